"""Archives that are cut short, damaged or endless, and NumPy files that are not what they say."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from support.graph_errors import ANY_FORMAT, HUGE, message
from warpsift.graph import load_graph

# Archives.


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_archives_cut_short_damaged_or_endless(tmp_path, suffix, pack):
    kind = {"gz": "gzip", "bz2": "bzip2", "xz": "xz"}[suffix]
    path = tmp_path / f"a.el.{suffix}"
    packed = pack(np.random.default_rng(1).bytes(100_000))
    path.write_bytes(packed[: len(packed) // 2])
    assert message(path).startswith(f"{path}: the {kind} data is cut short after ")
    path.write_bytes(packed[:5000] + bytes(100) + packed[5100:])
    assert message(path).startswith(f"{path}: the {kind} data is damaged: ")
    path.write_bytes(pack(bytes(50_000_000)))
    assert path.stat().st_size < 100_000
    assert message(path, max_bytes=1_000_000) == (
        f"{path}: expands to more than the limit of 1000000 bytes (raise it with max_bytes or WARPSIFT_MAX_GRAPH_BYTES)"
    )


def test_the_limit_can_come_from_the_environment(tmp_path, monkeypatch):
    (tmp_path / "a.el").write_text("0 1\n" * 100)
    monkeypatch.setenv("WARPSIFT_MAX_GRAPH_BYTES", "50")
    assert message(tmp_path / "a.el") == (
        f"{tmp_path / 'a.el'}: 400 bytes, over the limit of 50 (raise it with max_bytes or WARPSIFT_MAX_GRAPH_BYTES)"
    )
    monkeypatch.setenv("WARPSIFT_MAX_GRAPH_BYTES", "4G")
    assert message(tmp_path / "a.el") == ("WARPSIFT_MAX_GRAPH_BYTES='4G': expected a number of bytes, e.g. 4294967296")


def test_a_smaller_limit_holds_for_cached_graphs_too(tmp_path):
    (tmp_path / "a.el").write_text("0 1\n" * 100)
    load_graph(tmp_path / "a.el")
    assert message(tmp_path / "a.el", max_bytes=10) == (
        f"{tmp_path / 'a.el'}: 2 nodes and 100 arcs need 424 bytes, over the limit of 10 "
        "(raise it with max_bytes or WARPSIFT_MAX_GRAPH_BYTES)"
    )


def test_tar_archives(tmp_path):
    path = tmp_path / "two.tar"
    with tarfile.open(path, "w") as archive:
        for name in ("a.el", "b.el"):
            entry = tarfile.TarInfo(name)
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"0 1\n"))
    assert message(path) == f"{path}: the archive holds a.el, b.el; choose one, e.g. two.tar::NAME"
    assert message(f"{path}::c.el") == f"{path}: the archive has no member 'c.el'; it has a.el, b.el"
    assert load_graph(f"{path}::b.el").nodes == 2
    path.write_bytes(path.read_bytes()[:1026])
    assert message(f"{path}::b.el").startswith(f"{path}: the ")
    (tmp_path / "x.el").write_text("0 1\n")
    assert message(f"{tmp_path / 'x.el'}::y") == f"{tmp_path / 'x.el'}: is no tar archive, so it has no member 'y'"


def test_a_tar_member_cannot_expand(tmp_path):
    """GNU sparse members claim any size in a few bytes."""
    path = tmp_path / "sparse.tar"
    entry = tarfile.TarInfo("a.el")
    entry.pax_headers = {"GNU.sparse.map": "0,4", "GNU.sparse.size": str(10**12)}
    entry.size = 4
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(entry, io.BytesIO(b"0 1\n"))
    assert message(path) == f"{path}: member 'a.el' promises 1000000000000 bytes, more than the archive"


# NumPy archives.


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("unpickled"),))


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "a.npz", offsets=np.array([0, 0]), targets=np.array([Bomb()], object))
    assert message(tmp_path / "a.npz") == (
        f"{tmp_path / 'a.npz'}: array 'targets.npy' holds Python objects; expected plain numbers"
    )
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Bomb()))
    assert message(tmp_path / "b.npz").endswith(f"unknown format; {ANY_FORMAT}")
    assert not (tmp_path / "unpickled").exists()


def npz(path: Path, **arrays) -> Path:
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        (
            {"x": [1]},
            "expected arrays offsets and targets (warpsift) or format, indptr, indices, shape (SciPy), found x",
        ),
        (
            {"offsets": [0, 2], "targets": [0]},
            "offsets must rise from 0 to the number of targets, 1",
        ),
        ({"offsets": [0, 2, 1, 3], "targets": [0, 0, 0]}, "offsets must rise from 0 to the number of targets, 3"),
        ({"offsets": [0, 1], "targets": [1]}, "node ID 1 is out of range; expected 0 to 0"),
        ({"offsets": [0, 1], "targets": [-1]}, "node ID -1 is out of range; expected 0 to 0"),
        ({"offsets": [0, 1], "targets": [0.5]}, "array 'targets' must be a flat array of integers"),
        ({"offsets": [0, 1], "targets": [0], "weights": [1, 2]}, "weights must be 1 numbers, one per arc"),
        ({"offsets": [0, 1], "targets": [0], "original_ids": [1, 2]}, "original_ids must be 1 integers, one per node"),
        (
            {"offsets": [0, 1], "targets": [0], "about": np.frombuffer(b"[", np.uint8)},
            "array 'about' is no description of a graph: Expecting value: line 1 column 2 (char 1)",
        ),
    ],
)
def test_npz_with_wrong_arrays(tmp_path, arrays, reason):
    path = npz(tmp_path / "a.npz", **{name: np.array(value) for name, value in arrays.items()})
    assert message(path) == f"{path}: {reason}"


def test_npz_headers_are_not_believed(tmp_path):
    path = npz(tmp_path / "a.npz", offsets=np.array([0, 1]), targets=np.array([0]))
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("offsets.npy", header.getvalue())
    assert message(path) == (f"{path}: array 'offsets.npy' promises 1000000000000 elements, more than the file holds")
    path.write_bytes(npz(tmp_path / "b.npz", offsets=np.arange(9)).read_bytes()[:-40])
    assert message(path).startswith(f"{path}: the .npz archive is damaged: ")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("offsets.npy", bytes(10_000_000))
    assert message(path, max_bytes=1_000_000) == f"{path}: expands to more than the limit of 1000000 bytes"


def test_scipy_npz_is_checked(tmp_path):
    arrays = {"format": b"csr", "shape": [2, 2], "indptr": [0, 1, 1], "data": [1.0]}
    path = npz(tmp_path / "a.npz", indices=np.array([7]), **arrays)
    assert message(path).startswith(f"{path}: no valid sparse matrix: ")
    path = npz(tmp_path / "a.npz", indices=np.array([0]), **{**arrays, "format": b"dia"})
    assert message(path) == f"{path}: sparse format 'dia'; expected csr, csc or coo"
    path = npz(tmp_path / "a.npz", indices=np.array([0]), **{**arrays, "shape": [10**12, 10**12]})
    assert message(path) == f"{path}: the header promises {HUGE}"
