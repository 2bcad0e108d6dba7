"""The ledger: keys, claims, what is kept, what is refused and in which words."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import warpsift.store.store as store_module
from support.places import TESTS
from support.sweeping import points
from warpsift.run.request import make_request
from warpsift.store.store import Store, StoreError, new_owner
from warpsift.sweep import plan

RESULT = '{"check":"pass","cycles":7}'


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "runs.db"


# Keys.


def key(**choices) -> str:
    return plan([make_request("bfs", choices.pop("graph", "grid-5x5"), choices)])[0].key


def test_requests_that_mean_the_same_run_share_a_key():
    assert key() == key(seed=1) == key(style="frontier")
    default = key(gpu="titanx")
    assert default == key(gpu="titanx", overrides={"launch.overhead_cycles": 0})
    assert default == key(gpu="titanx", overrides={"launch.overhead_cycles": "0"})
    costly = {"gpu": "gtx480-gpgpusim4", "overrides": {"costs.noc_flit": 1e-12}}
    assert key(**costly) == key(gpu="gtx480-gpgpusim4", overrides={"costs.noc_flit": "1e-12"})
    assert plan([make_request("bfs", "grid-5x5", costly)])[0].problem is None
    assert len(plan([make_request("bfs", "grid-5x5", {"seed": seed}) for seed in (1, 2, 1)])) == 2


def test_whatever_decides_a_result_is_in_the_key(monkeypatch):
    keys = [
        key(),
        key(seed=2),
        key(graph="grid-5x6"),
        key(style="vertex"),
        key(check=False),
        key(gpu="titanx"),
        key(gpu="titanx", overrides={"l2.latency_cycles": 1}),
        key(gpu="gtx480-gpgpusim4"),
        key(gpu="gtx480-gpgpusim4", overrides={"costs.noc_flit": 1e-12}),
        key(gpu="gtx480-gpgpusim4", overrides={"costs.noc_flit": 2e-12}),
    ]
    monkeypatch.setattr("warpsift.store.source_version.source_version", lambda: "another")
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_the_content_of_a_graph_decides_not_its_path(tmp_path):
    for folder, edges in (("a", "0 1\n1 2\n"), ("b", "0 1\n1 2\n"), ("c", "0 1\n0 2\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "g.el").write_text(edges)
    a, b, c = (key(graph=str(tmp_path / folder / "g.el")) for folder in "abc")
    assert a == b != c


# Claims.


def test_a_point_is_claimed_once_and_kept(path):
    (point,) = points(1)
    mine, theirs = new_owner(), new_owner()
    with Store(path) as ledger:
        assert ledger.claim(point, mine) == "mine"
        assert ledger.claim(point, theirs) == "busy"
        ledger.finish(point, RESULT, "host", 1.5)
        assert ledger.claim(point, theirs) == "done"
    with Store(path, readonly=True) as ledger:
        (record,) = ledger.records()
    assert record.status == "done" and record.result == {"check": "pass", "cycles": 7}
    assert record.request["options"]["seed"] == 1 and record.graph["name"] == "grid-5x5"
    assert (record.host, record.host_seconds, record.machine) == ("host", 1.5, None)


def test_a_failure_is_kept_and_retried_only_on_demand(path):
    (point,) = points(1)
    owner = new_owner()
    with Store(path) as ledger:
        ledger.claim(point, owner)
        ledger.fail(point, "OptionError", "no such source")
        record = ledger.record(point.key)
        assert (record.status, record.error_kind, record.error) == ("failed", "OptionError", "no such source")
        assert ledger.claim(point, owner) == "failed"
        assert ledger.claim(point, owner, retry_failed_before=record.finished_at + 1) == "mine"
        ledger.finish(point, RESULT, "host", 1.0)
        record = ledger.record(point.key)
        assert (record.status, record.error) == ("done", None)


def test_the_first_result_stays(path):
    (point,) = points(1)
    with Store(path) as ledger:
        ledger.finish(point, RESULT, "first", 1.0)
        ledger.finish(point, RESULT, "second", 1.0)
        ledger.fail(point, "Error", "late")
        assert ledger.record(point.key).host == "first"


def test_a_lease_lapses_unless_it_is_renewed(path, monkeypatch):
    one, two = points(2)
    mine, theirs = new_owner(), new_owner()
    with Store(path) as ledger:
        monkeypatch.setattr(store_module, "LEASE_SECONDS", -1.0)
        ledger.claim(one, mine)
        ledger.claim(two, mine)
        assert ledger.claim(one, theirs) == "mine"
        monkeypatch.setattr(store_module, "LEASE_SECONDS", 60.0)
        ledger.heartbeat(mine)  # renews the second; the first is no longer its own
        assert ledger.claim(two, theirs) == "busy"
        ledger.release(mine)
        assert ledger.claim(two, theirs) == "mine"
        assert ledger.statuses() == {one.key: "claimed", two.key: "claimed"}


def test_the_claim_of_a_dead_process_is_free_at_once(path):
    (point,) = points(1)
    code = "import sys; from warpsift.store.store import new_owner; print(new_owner())"
    dead = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    with Store(path) as ledger:
        assert ledger.claim(point, dead) == "mine"
        assert ledger.claim(point, new_owner()) == "mine"


def test_the_claim_of_another_computer_waits_for_its_lease(path):
    (point,) = points(1)
    with Store(path) as ledger:
        assert ledger.claim(point, "far-away|pid:[1]|999999|abcd") == "mine"
        assert ledger.claim(point, new_owner()) == "busy"


# Refusals, to the letter.


def message(path: Path, **how) -> str:
    with pytest.raises(StoreError) as problem:
        Store(path, **how)
    return str(problem.value).replace(str(path), "STORE")


def test_not_a_store(path):
    path.write_text("graph,cycles\n" * 200)
    assert message(path) == "STORE is not a store of warpsift; give another name with --store"
    assert message(path, readonly=True) == "STORE is not a store of warpsift; give another name with --store"
    assert path.read_text().startswith("graph,cycles")


def test_another_programs_database(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE runs (key)")
    db.commit()
    db.close()
    assert message(path) == "STORE is an SQLite file of another program; give a new name with --store"


def test_a_store_of_the_future(path):
    Store(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 9")
    db.close()
    assert message(path) == (
        "STORE was written by a newer warpsift (store version 9; this one knows 3): upgrade warpsift, "
        "or give a new name with --store"
    )


def _as_version(path: Path, version: int) -> None:
    """The tables as they were before machines were kept once (2), and before results had their numbers (1)."""
    with sqlite3.connect(path) as db:
        db.execute("UPDATE runs SET machine = (SELECT machines.machine FROM machines WHERE digest = runs.machine)")
        db.execute("DROP TABLE machines")
        if version == 1:
            db.execute("ALTER TABLE runs DROP COLUMN numbers")
        db.execute(f"PRAGMA user_version = {version}")
    db.close()


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_store_is_read_and_then_written_to(path, version):
    one, two = points(2, gpu="gtx980")
    with Store(path) as ledger:
        ledger.finish(one, RESULT, "host", 1.0)
        whole = ledger.records()
    _as_version(path, version)
    with Store(path, readonly=True) as ledger:
        assert ledger.records() == whole and whole[0].machine["name"] == "gtx980"
        assert [record.result for record in ledger.records(parts=["cycles"])] == [{"check": "pass", "cycles": 7}]
    with Store(path) as ledger:
        ledger.finish(two, RESULT, "host", 1.0)
        assert [record.result["cycles"] for record in ledger.records(parts=["cycles"])] == [7, 7]
        assert [record.machine for record in ledger.records()] == [whole[0].machine] * 2


def test_numbers_beside_a_result(path):
    long = '{"check":"pass","cycles":7,"options":{"seed":1},"phases":[{"cycles":3},{"cycles":4}],"stalls":{}}'
    (point,) = points(1)
    with Store(path) as ledger:
        ledger.finish(point, long, "host", 1.0)
        (brief,) = ledger.records(parts=["cycles", "joules"])
        assert brief.result == {"check": "pass", "cycles": 7, "options": {"seed": 1}}
        (more,) = ledger.records(parts=["phases"])
        assert more.result["phases"] == [{"cycles": 3}, {"cycles": 4}]
        kept = ledger._db.execute("SELECT numbers FROM runs").fetchone()[0]
        assert kept == '{"check":"pass","cycles":7,"options":{"seed":1},"phases":[],"stalls":[]}'
        ledger._db.execute("UPDATE runs SET numbers = substr(numbers, 1, 20)")
        with pytest.raises(StoreError, match=r"the result of run .* is not complete, or damaged: restore a copy"):
            ledger.records(parts=["cycles"])


def test_no_store_no_folder_or_a_folder(path, tmp_path):
    assert message(path, readonly=True) == "no store at STORE: run 'warpsift sweep FILE.toml --store STORE' first"
    (tmp_path / "empty.db").touch()
    assert message(tmp_path / "empty.db", readonly=True) == "STORE is empty: no sweep has written to it yet"
    there = tmp_path / "no" / "runs.db"
    assert message(there) == f"cannot make the store STORE: there is no directory {there.parent}"
    assert message(tmp_path) == "STORE is a directory; the store is a file, such as STORE/warpsift.db"


def test_a_full_disk(path):
    """SQLite's own limit of pages answers as a full disk does."""
    ledger = Store(path)
    one, two = points(2)
    ledger.finish(one, RESULT, "host", 1.0)
    pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
    ledger._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError) as problem:
        ledger.finish(two, '{"check":"' + "x" * 100_000 + '"}', "host", 1.0)
    assert str(problem.value) == (
        f"the disk that holds {path} is full: finished runs are kept; free some space and start the sweep again"
    )
    assert [record.key for record in ledger.records()] == [one.key]
    ledger.close()


def test_a_damaged_store(path):
    with Store(path) as ledger:
        for point in points(2):
            ledger.finish(point, '{"check":"' + "x" * 20_000 + '"}', "host", 1.0)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 12_000)
    with pytest.raises(StoreError, match="damaged"), Store(path, readonly=True) as ledger:
        ledger.records()


@pytest.mark.parametrize(
    ("column", "text", "problem"),
    [
        ("result", '{"check":"pa', "the result of run {key!r} is not complete, or damaged"),
        ("result", "[" * 100_000, "the result of run {key!r} is not complete, or damaged"),
        ("result", "7", "the result of run {key!r} is not complete, or damaged"),
        ("result", "{}", "the result of run {key!r} is without a proper 'check'"),
        ("request", '{"algorithm":"bfs"}', "the request of run {key!r} is without a proper 'graph'"),
        ("request", '{"algorithm":1,"graph":1,"options":[],"overrides":{}}', "is without a proper 'options'"),
        ("graph", "{}", "the graph of run {key!r} is without a proper 'name'"),
        ("machine", "[]", "the machine of run {key!r} is not complete, or damaged"),
    ],
)
def test_a_row_that_is_cut_is_named(path, column, text, problem):
    (point,) = points(1)
    with Store(path) as ledger:
        ledger.finish(point, RESULT, "host", 1.0)
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE runs SET {column} = ?", (text,))
    with Store(path) as ledger:
        for read in (ledger.records, lambda: ledger.record(point.key)):
            with pytest.raises(StoreError) as caught:
                read()
            assert problem.format(key=point.key) in str(caught.value) and str(path) in str(caught.value)


def test_results_that_are_no_strict_json_are_read(path):
    (point,) = points(1)
    with Store(path) as ledger:
        ledger.finish(point, '{"check":"pass","ratio":NaN,"name":"\\udcff"}', "host", 1.0)
        result = ledger.record(point.key).result
    assert result["ratio"] != result["ratio"] and result["name"] == "\udcff"


def test_parts_of_results_are_those_of_the_whole(path):
    """What is passed over is still checked to be JSON; names that are not there are left out."""
    texts = ['{"check":"pass","options":{"seed":1},"phases":[{"a":[1,2]}],"cycles":5,"work":{"edges":3}}']
    texts += ['{"check":"fail","ratio":NaN,"cycles":7,"name":"\\udcff"}', '{"check":"pass"}']
    with Store(path) as ledger:
        for point, text in zip(points(3), texts, strict=True):
            ledger.finish(point, text, "host", 1.0)
        whole = {record.key: record.result for record in ledger.records()}
        parts = {record.key: record.result for record in ledger.records(parts={"cycles", "work", "none such"})}
    wanted = ("check", "options", "cycles", "work")
    assert parts == {key: {n: result[n] for n in wanted if n in result} for key, result in whole.items()}
    assert sorted(result.get("cycles", 0) for result in parts.values()) == [0, 5, 7]


@pytest.mark.parametrize("numbers", ["NULL", "result"])
@pytest.mark.parametrize(
    "text", ["", '{"check":"pass","phases":[1,', "[1]", '{"phases":[]}', '{"check":1,"options":2}', "7"]
)
def test_damaged_results_are_seen_in_parts_too(path, text, numbers):
    (point,) = points(1)
    with Store(path) as ledger:
        ledger.finish(point, RESULT, "host", 1.0)
        ledger._db.execute("UPDATE runs SET result = ?", (text,))
        ledger._db.execute(f"UPDATE runs SET numbers = {numbers}")
        with pytest.raises(StoreError) as whole:
            ledger.records()
        with pytest.raises(StoreError) as parts:
            ledger.records(parts={"cycles"})
    assert str(parts.value) == str(whole.value)


@pytest.fixture
def readonly_store():
    """A finished store that this process may read and not write, even when it is root."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    with Store(folder / "runs.db") as ledger:
        ledger.finish(points(1)[0], RESULT, "host", 1.0)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield folder / "runs.db"
    if root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_readonly_store_can_be_read_and_not_written(readonly_store):
    assert message(readonly_store) == (
        "STORE cannot be written: the file or its directory is read-only; give another place with --store"
    )
    assert message(readonly_store.with_name("new.db")) == (
        "STORE cannot be opened: check that its directory can be written, or give another with --store"
    )
    with Store(readonly_store, readonly=True) as ledger:
        assert len(ledger.records()) == 1


def test_many_writers_at_once(path):
    """Processes that open, claim and finish at the same moment: every point once, nothing damaged."""
    code = (
        "import sys; from warpsift.store.store import Store, new_owner; from support.sweeping import points\n"
        "owner = new_owner(); taken = 0\n"
        "with Store(sys.argv[1]) as ledger:\n"
        "    for point in points(40):\n"
        "        if ledger.claim(point, owner) == 'mine':\n"
        "            ledger.finish(point, '{}', 'host', 1.0); taken += 1\n"
        "print(taken)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, env=environment)
        for _ in range(3)
    ]
    taken = [int(process.communicate(timeout=600)[0]) for process in started]
    assert sum(taken) == 40
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("SELECT count(*) FROM runs WHERE status = 'done'").fetchone() == (40,)
    db.close()


def test_impossible_machines_are_points_too():
    request = make_request("bfs", "grid-5x5", {"gpu": "titanx", "overrides": {"l2.ways": 7}})
    (point,) = plan([request])
    assert point.machine is None and "l2.size_bytes" in point.problem
    assert replace(point, problem=None) != point


@pytest.mark.parametrize("column", ["request", "graph", "machine"])
def test_an_empty_text_is_damage(path, column):
    (point,) = points(1)
    with Store(path) as ledger:
        ledger.finish(point, RESULT, "host", 1.0)
        ledger._db.execute(f"UPDATE runs SET {column} = ''")
        with pytest.raises(StoreError, match=f"the {column} of run .* is not complete, or damaged"):
            ledger.records()
