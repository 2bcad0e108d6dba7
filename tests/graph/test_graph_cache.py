"""The cache of graphs: hits, content keys, damage, crashes half-way and two processes at once."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

from warpsift.graph import CsrGraph, cache, load_graph
from warpsift.graph import loading as load
from warpsift.graph.readers import npz


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("WARPSIFT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "graphs"


@pytest.fixture
def reads(monkeypatch) -> list[Path]:
    """Every file that is really parsed."""
    seen: list[Path] = []
    original = load.read_file

    def counted(path, *arguments, **options):
        seen.append(path)
        return original(path, *arguments, **options)

    monkeypatch.setattr(load, "read_file", counted)
    return seen


def test_the_second_load_comes_from_the_cache_and_is_equal(tmp_path, folder, reads):
    path = tmp_path / "g.csv"
    path.write_text("5 70 1.5\n70 5 2\n")
    first = load_graph(path)
    second = load_graph(path)
    assert len(reads) == 1
    assert second.content_hash == first.content_hash
    assert second.original_ids.tolist() == first.original_ids.tolist() == [5, 70]
    assert second.provenance == first.provenance
    assert (second.name, second.provenance["format"]) == ("g", "edge-list")
    assert len(list(folder.iterdir())) == 1
    with pytest.raises(ValueError, match="read-only"):
        second.targets[0] = 1


def test_the_key_is_the_content_and_the_options_not_time_or_place(tmp_path, reads):
    path = tmp_path / "g.el"
    path.write_text("0 1\n")
    load_graph(path)
    os.utime(path, (1, 1))
    load_graph(path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "g.el").write_text("0 1\n")
    elsewhere = load_graph(tmp_path / "elsewhere" / "g.el")
    assert len(reads) == 1
    assert elsewhere.provenance["path"] == str(tmp_path / "elsewhere" / "g.el")
    assert load_graph(path, symmetrise=True).edges == 2
    assert len(reads) == 2
    path.write_text("0 2\n")
    assert load_graph(path).nodes == 3
    assert len(reads) == 3


def test_a_webgraphs_properties_are_part_of_the_key(tmp_path, reads):
    from oracles import naive_webgraph as naive

    (tmp_path / "g.graph").write_bytes(naive.encode([[1], []], [0, 0]))
    text = naive.properties([[1], []], 7, 4, 3, {})
    (tmp_path / "g.properties").write_text(text)
    load_graph(tmp_path / "g.graph")
    (tmp_path / "g.properties").write_text(text + "\n# touched\n")
    load_graph(tmp_path / "g.graph")
    assert len(reads) == 2


def test_without_cache_nothing_is_written(tmp_path, folder, reads):
    (tmp_path / "g.el").write_text("0 1\n")
    for _ in range(2):
        load_graph(tmp_path / "g.el", cache=False)
    assert len(reads) == 2
    assert not folder.exists()


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text", "other arrays"])
def test_a_damaged_entry_is_made_anew(tmp_path, folder, reads, damage):
    path = tmp_path / "g.el"
    path.write_text("0 1\n1 2\n" * 50)
    expected = load_graph(path).content_hash
    (entry,) = folder.iterdir()
    content = bytearray(entry.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "flip":
        content[len(content) // 3] ^= 0xFF
    elif damage == "empty":
        content.clear()
    elif damage == "text":
        content[:] = b"no archive"
    entry.write_bytes(content)
    if damage == "other arrays":
        np.savez(entry, x=np.arange(3))
    assert load_graph(path).content_hash == expected
    assert len(reads) == 2
    load_graph(path)
    assert len(reads) == 2  # the new entry is good


def test_a_crash_half_way_leaves_no_entry_and_no_rest(tmp_path, folder, monkeypatch):
    path = tmp_path / "g.el"
    path.write_text("0 1\n")

    def crash(file, **arrays):
        file.write(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(npz.np, "savez", crash)
        with pytest.raises(KeyboardInterrupt):
            load_graph(path)
    assert list(folder.iterdir()) == []
    assert load_graph(path).nodes == 2


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail_and_said_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARPSIFT_CACHE_DIR", str(tmp_path / "file"))
    (tmp_path / "g.el").write_text("0 1\n")
    assert load_graph(tmp_path / "g.el").nodes == load_graph(tmp_path / "g.el").nodes == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert (
        told
        == f"warpsift: {tmp_path / 'file' / 'graphs'} cannot be written: Not a directory; graphs read now are not kept"
    )


def _load_often(path: str, hashes) -> None:
    for _ in range(20):
        hashes.put(load_graph(path).content_hash)
        for entry in cache.cache_directory().glob("*.npz"):
            entry.unlink(missing_ok=True)


def test_two_processes_at_once(tmp_path):
    path = tmp_path / "g.el"
    ends = np.random.default_rng(1).integers(0, 1000, (20_000, 2))
    np.savetxt(path, ends, "%d")
    expected = load_graph(path, cache=False).content_hash
    context = multiprocessing.get_context("spawn")
    hashes = context.Queue()
    workers = [context.Process(target=_load_often, args=(str(path), hashes)) for _ in range(2)]
    for worker in workers:
        worker.start()
    results = [hashes.get(timeout=600) for _ in range(40)]
    for worker in workers:
        worker.join(timeout=600)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert set(results) == {expected}


def test_old_entries_go_when_the_cache_is_full(tmp_path):
    for age, name in enumerate(("new", "middle", "old")):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (10_000 - age, 10_000 - age))
    cache.prune(tmp_path, max_bytes=250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["middle", "new"]


def test_large_generated_graphs_are_cached_with_their_stand_in_note(folder, monkeypatch):
    monkeypatch.setattr(load, "_CACHED_ARCS", 100)
    made = load_graph("cond@1/100", seed=5)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(load, "generate_preset", lambda *_: pytest.fail("made again"))
    fetched = load_graph("cond@1/100", seed=5)
    assert fetched.content_hash == made.content_hash
    assert (fetched.stand_in_for, fetched.name) == (made.stand_in_for, "cond@1/100")
    assert isinstance(fetched, CsrGraph)


def test_every_byte_of_an_entry_counts(tmp_path, folder, reads):
    """Damage in the archive's table of contents once lost the weights without a word."""
    path = tmp_path / "g.wel"
    path.write_text("0 1 7\n1 2 8\n")
    expected = load_graph(path).content_hash
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    for number, place in enumerate(range(0, len(whole), 7), 1):
        entry.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        assert load_graph(path).content_hash == expected
        assert len(reads) == 1 + number  # made anew, not used as it was
        assert entry.read_bytes() == whole


def test_an_entry_under_another_name_is_not_used(tmp_path, folder, reads):
    (tmp_path / "a.el").write_text("0 1\n")
    (tmp_path / "b.el").write_text("0 2\n")
    load_graph(tmp_path / "a.el")
    (first,) = folder.iterdir()
    load_graph(tmp_path / "b.el")
    (second,) = set(folder.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    assert load_graph(tmp_path / "b.el").nodes == 3
    assert len(reads) == 3
