"""A store as one compressed file: the same runs, nobody's name, and refusals in one line."""

from __future__ import annotations

import lzma
import socket

import pytest

from support.command_line import call
from support.sweeping import outcome, points, requests
from warpsift.store import unpacking
from warpsift.store.packed_store import pack
from warpsift.store.store import Store, new_owner
from warpsift.store.store_errors import StoreError
from warpsift.sweep import SweepOptions, run_sweep


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    path, packed = folder / "runs.db", folder / "runs.db.xz"
    run_sweep(requests(3), path, SweepOptions(workers=1, quiet=True))
    with Store(path) as ledger:
        assert ledger.claim(points(4)[3], new_owner()) == "mine"  # somebody runs another one
    assert pack(path, packed) == 3
    return path, packed


def test_the_runs_are_the_same_and_nothing_says_where_they_were_made(stores):
    path, packed = stores
    with Store(path, readonly=True) as ours, Store(packed, readonly=True) as theirs:
        assert [outcome(r) for r in theirs.records()] == [outcome(r) for r in ours.records()]
        assert {r.host for r in theirs.records()} == {""}
        assert set(theirs.statuses().values()) == {"done"}
    content = lzma.decompress(packed.read_bytes())
    assert socket.gethostname().encode() not in content and len(packed.read_bytes()) < len(content) / 3


def test_commands_that_read_take_it(stores):
    path, packed = stores
    shown = [call("results", "--store", str(each), "--json", "-c", "graph,seed,check") for each in (path, packed)]
    assert shown[0].returncode == 0 and shown[0].stdout == shown[1].stdout
    again = call("pack", str(packed), str(packed.with_name("again.db.xz")))
    assert again.returncode == 0 and "3 runs in" in again.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "is damaged or no packed store"),
        (lzma.compress(b"x" * 100_000)[:-20], "is damaged or no packed store"),
        (lzma.compress(b"no database at all" * 100), "is not a store of warpsift"),
        (lzma.compress(b""), "is an empty store"),
    ],
)
def test_what_is_none_is_refused(content, said, tmp_path):
    path = tmp_path / "some.db.xz"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=said):
        Store(path, readonly=True)


def test_a_file_that_expands_without_end_is_refused(tmp_path):
    path = tmp_path / "bomb.xz"
    path.write_bytes(lzma.compress(bytes(10_000_000)))
    with pytest.raises(StoreError, match="unpacks to more than 1000000 bytes: unpack it yourself"):
        unpacking.unpacked(path, 1_000_000)


def test_a_packed_store_is_not_written_to(stores):
    with pytest.raises(StoreError, match="is packed, and a packed store is only read: unpack it"):
        Store(stores[1])
    with pytest.raises(StoreError, match=r"cannot write .*runs: name it runs\.xz"):
        pack(stores[0], stores[0].with_name("runs"))
    refused = call("pack", str(stores[0]), "nowhere/runs.xz")
    assert refused.returncode == 2 and "there is no folder nowhere" in refused.stderr
