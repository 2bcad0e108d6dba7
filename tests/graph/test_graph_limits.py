"""Small files stay small: no file under 1 MB takes 500 MB or hangs a reader, whatever it promises.

Files are loaded in a child process whose address space may grow by 500 MB: a reader that takes more fails there.
"""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from warpsift.graph import load_graph
from warpsift.graph.limits import BASE_BYTES, limits_of

MM = "%%MatrixMarket matrix coordinate pattern general\n"
LOADER = """
import resource, sys, time
from warpsift.graph import GraphError, describe, load_graph
load_graph("grid-3x3")
for path in sys.argv[2:]:  # compiled before memory and time are counted
    try: describe(load_graph(path))
    except GraphError: pass
now = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (now + (500 << 20),) * 2)
start = time.process_time()
try:
    print(describe(load_graph(sys.argv[1]))["nodes"])
except GraphError as error:
    print(f"refused: {error}")
print(time.process_time() - start)
"""


def load_in_child(path: Path, *warm: Path) -> tuple[str, float]:
    """What came of it, and how long it took."""
    command = [sys.executable, "-c", LOADER, str(path), *map(str, warm)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    answer, seconds = done.stdout.strip().splitlines()
    assert len(answer) <= 600
    return answer, float(seconds)


def npz(path: Path, **arrays: np.ndarray) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            archive.writestr(f"{name}.npy", content.getvalue())


def members(path: Path) -> None:
    """Many empty members, compressed to nothing."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for number in range(60_000):
            archive.addfile(tarfile.TarInfo(f"{number}.el"))
    path.write_bytes(gzip.compress(content.getvalue(), 1))


def long_header(path: Path) -> None:
    """Records of 5 bytes whose `=` stands far away: tarfile looks for it from each."""
    text = b"5 aaa" * 150_000 + b"="
    entry = tarfile.TarInfo("PaxHeader")
    entry.type, entry.size = tarfile.XHDTYPE, len(text)
    path.write_bytes(entry.tobuf(tarfile.USTAR_FORMAT) + text + bytes(1024))


def bv(path: Path) -> None:
    path.write_bytes(bytes(900_000))
    lines = ("graphclass=it.unimi.dsi.webgraph.BVGraph", "nodes=7000000", "arcs=900000000", "version=0")
    path.with_suffix(".properties").write_text("\n".join(lines))


# Name of the file, and how it is made.
SMALL = {
    "header.mtx": lambda p: p.write_text(f"{MM}400000000 400000000 0\n"),
    "header.gr": lambda p: p.write_text("p sp 400000000 0\n"),
    "snap.txt": lambda p: p.write_text("# Nodes: 400000000 Edges: 1\n0 1\n"),
    "last.el": lambda p: p.write_text("0 1\n" * 200_000 + "0 25000000\n"),
    "constraints.metis": lambda p: p.write_text("2 1 10 200000000\n1 2\n1\n"),
    "lines.metis.gz": lambda p: p.write_bytes(gzip.compress(b"100000000 0\n" + b"\n" * 100_000_000)),
    "arcs.el.gz": lambda p: p.write_bytes(gzip.compress(b"0 1\n" * 25_000_000)),
    "comments.txt.gz": lambda p: p.write_bytes(gzip.compress(b"#\n" * 60_000_000 + b"0 1\n")),
    "columns.txt.gz": lambda p: p.write_bytes(gzip.compress(b"1 " * 60_000_000 + b"\n")),
    "members.tar.gz": members,
    "pax.tar": long_header,
    "lists.graph": bv,
    "wraps.npz": lambda p: npz(p, offsets=np.array([0, 2**64 - 1, 1], np.uint64), targets=np.array([0])),
    "zeros.npz": lambda p: npz(p, offsets=np.zeros(200_000_000, np.int8), targets=np.zeros(0, np.int8)),
    "scipy.npz": lambda p: npz(
        p,
        format=np.array(b"csr"),
        shape=np.array([400_000_000] * 2),
        indptr=np.zeros(3, np.int32),
        indices=np.zeros(0, np.int32),
        data=np.zeros(0),
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_small_file_takes_little_memory_and_time(tmp_path, monkeypatch, name):
    monkeypatch.setenv("WARPSIFT_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / name
    SMALL[name](path)
    assert path.stat().st_size < 1_000_000
    answer, seconds = load_in_child(path, path if ".gz" not in name else tmp_path)
    assert answer.startswith("refused: ") or name == "comments.txt.gz"
    assert seconds < 8  # the bombs of 100 MB take a second or two to expand


def test_the_limit_can_be_raised(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPSIFT_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "header.mtx"
    path.write_text(f"{MM}5000000 5000000 0\n")
    with pytest.raises(Exception, match=r"5000000 nodes and 0 rows of numbers: reading takes about 3\d+ bytes, over"):
        load_graph(path)
    assert load_graph(path, max_bytes=1 << 30).nodes == 5_000_000


def test_the_limit_grows_with_the_file(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(bytes(1000))
    assert limits_of(None, [tmp_path / "a"]).loading_bytes == BASE_BYTES + 128_000
    assert limits_of(10, [tmp_path / "a"]).loading_bytes == BASE_BYTES + 128_000
    assert limits_of(1 << 40, [tmp_path / "a"]).loading_bytes == 1 << 40
    monkeypatch.setenv("WARPSIFT_MAX_GRAPH_BYTES", str(1 << 41))
    assert limits_of(None, [tmp_path / "a"]).loading_bytes == 1 << 41


BLANKS = {
    "blank-lines.el": "\n" * 900_000 + "0 1\n",
    "blank-and-comments.gr": ("c\n" + "\n" * 5) * 100 + "p sp 2 1\na 1 2 3\n",
    "blanks.txt": "#" + " " * 100_000 + "x\n0 1\n",
    "almost-promised.txt": "# Nodes: 2 Edges: 1\n" * 40_000 + "0 1\n",
    "blanks-in-a-row.txt": "0 1\n1 0\n" + (" " * 100_000 + "\n") * 5,
}


@pytest.mark.parametrize("name", BLANKS)
def test_recognisers_are_linear(tmp_path, monkeypatch, name):
    """Blank lines took time exponential in their number before: `\\n` forty times hung every command."""
    monkeypatch.setenv("WARPSIFT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / name).write_text(BLANKS[name])
    answer, seconds = load_in_child(tmp_path / name)
    assert answer == "2"
    assert seconds < 10  # compilation included


@pytest.mark.parametrize("weight", [-(2**31), 2**31 - 1, 0])
@pytest.mark.parametrize("name", ["a.wel", "a.mtx", "a.gr", "a.metis"])
def test_every_int32_stays_an_integer(tmp_path, monkeypatch, name, weight):
    monkeypatch.setenv("WARPSIFT_CACHE_DIR", str(tmp_path / "cache"))
    texts = {
        "a.wel": f"0 1 {weight}\n",
        "a.mtx": f"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 {weight}\n",
        "a.gr": f"p sp 2 1\na 1 2 {weight}\n",
        "a.metis": f"2 1 1\n2 {weight}\n1 {weight}\n",
    }
    (tmp_path / name).write_text(texts[name])
    weights = load_graph(tmp_path / name).weights
    assert weights.dtype == np.int32 and weights[0] == weight
