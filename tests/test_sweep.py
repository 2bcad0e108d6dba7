"""Sweeps: what a file means, what a bad one is told, interruption, killing, sharing a store, and asking the results."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

from sweeping import WARPSIFT, WatchedPool, call, outcome, points, requests
from warpsift import load_graph, simulate
from warpsift.errors import WarpsiftError
from warpsift.run.request import RequestError, make_request
from warpsift.store.designs import compare, pareto
from warpsift.store.export import ExportError, export, to_dataframe
from warpsift.store.rows import QueryError, flat_row, sort, where
from warpsift.store.store import Store, StoreError
from warpsift.sweep import SweepError, SweepOptions, read_sweep, run_sweep, sweep_requests
from warpsift.sweep.sweep_progress import SweepProgress
from warpsift.sweep.sweep_run import run_points

QUIET = SweepOptions(workers=1, quiet=True)

# Sweep files.


def test_a_grid_is_every_combination():
    tree = {"grid": {"algorithm": ["bfs", "sssp"], "graph": ["kron-7", "grid-5x5"], "seed": [1, 2, 3]}}
    made = sweep_requests(tree)
    assert len(made) == 12
    assert {(r.algorithm, r.graph, r.options.seed) for r in made} == {
        (a, g, s) for a in ("bfs", "sssp") for g in ("kron-7", "grid-5x5") for s in (1, 2, 3)
    }


def test_sections_dotted_keys_and_keys_that_change_together(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text("""
[common]
gpu = "titanx"
[[grid]]
algorithm = "bfs"
graph = "kron-7"
l2.ways = [8, 16]
design = [{ unit = "none" }, { unit = "scu", sm.count = 2 }]
[[point]]
algorithm = "wcc"
graph = "kron-7"
gpu = "default"
""")
    made = read_sweep(file)
    assert [(r.unit, dict(r.overrides)) for r in made] == [
        ("none", {"l2.ways": 8}),
        ("scu", {"l2.ways": 8, "sm.count": 2}),
        ("none", {"l2.ways": 16}),
        ("scu", {"l2.ways": 16, "sm.count": 2}),
        ("none", {}),
    ]
    assert made[0].gpu == "titanx" and made[-1].gpu is None


def test_how_a_graph_is_loaded_is_an_axis_like_any_other(tmp_path):
    (tmp_path / "path.el").write_text("0 1\n1 2\n2 2\n")
    (tmp_path / "s.toml").write_text("""
[[grid]]
algorithm = "bfs"
graph = "path.el"
source = 2
symmetrise = [false, true]
drop_self_loops = [false, true]
[[grid]]
algorithm = "sssp"
graph = "kron-7"
graph_seed = [1, 2]
random_weights = false
""")
    made = read_sweep(tmp_path / "s.toml")
    results = run_sweep(made, tmp_path / "runs.db", SweepOptions(workers=1, quiet=True))
    assert len(results) == 6 and not results.failed
    edges = {(r.symmetrise, r.drop_self_loops): results[r].graph["edges"] for r in made[:4]}
    assert edges == {(False, False): 3, (False, True): 2, (True, False): 5, (True, True): 4}
    assert len({results[r].graph["content_hash"] for r in made[4:]}) == 2
    rows = [row for row in results.rows() if row["symmetrise"]]
    assert {row["edges"] for row in rows} == {4, 5}


def test_loading_options_and_a_loaded_graph_contradict_each_other():
    with pytest.raises(RequestError, match=r"'symmetrise' is about loading a graph, but 'grid-5x5' is loaded already"):
        simulate("bfs", load_graph("grid-5x5"), symmetrise=True)
    assert simulate("bfs", "grid-5x5", symmetrise=True).check == "pass"


def test_files_beside_the_sweep_file_are_found(tmp_path):
    (tmp_path / "g.el").write_text("0 1\n")
    (tmp_path / "mine.toml").write_text('extends = "titanx"\nl2.ways = 8\n')
    (tmp_path / "s.toml").write_text('[[point]]\nalgorithm = "bfs"\ngraph = "g.el"\ngpu = "mine.toml"\n')
    (request,) = read_sweep(tmp_path / "s.toml")
    assert (request.graph, request.gpu) == (str(tmp_path / "g.el"), str(tmp_path / "mine.toml"))


GOOD = 'algorithm = "bfs"\ngraph = "kron-7"\n'
KEYS = "algorithm, graph, style, unit, gpu, check"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[gird]\n" + GOOD, "unknown section 'gird': did you mean 'grid'? choose one of common, grid, point"),
        (
            "[[grid]]\n" + GOOD + "grapf = 1\n",
            f"[[grid]] number 1: unknown key 'grapf': did you mean 'graph'? choose one of {KEYS}",
        ),
        (
            '[[grid]]\ngpu = "titanx"\n' + GOOD + "l2.wayz = [4]\n",
            "unknown machine parameter 'l2.wayz': did you mean 'l2.ways'? choose one of l2.size_bytes",
        ),
        (
            '[[grid]]\ngpu = "gtx980"\n' + GOOD + "costs.noc_flits = [1e-12]\n",
            "unknown machine parameter 'costs.noc_flits': did you mean 'costs.noc_flit'",
        ),
        ("[[grid]]\n" + GOOD + "l2.ways = 4\n", "'l2.ways' is a machine parameter, but the point names no gpu"),
        ('[[grid]]\nalgorithm = "bfs"\n', "every point needs 'graph', a text such as graph = \"kron-12\""),
        ('[[grid]]\nalgorithm = "dfs"\ngraph = "kron-7"\n', "unknown algorithm 'dfs': did you mean 'bfs'?"),
        ("[[grid]]\n" + GOOD + 'gpu = "titan"\n', "unknown gpu 'titan': did you mean 'titanx'? choose one of"),
        ("[[grid]]\n" + GOOD + 'unit = "scv"\n', "unknown unit 'scv': did you mean 'scu'? choose one of none, scu"),
        ("[[grid]]\n" + GOOD + "seed = [1, 'x']\n", "'seed' = 'x': expected `int`, got `str`"),
        ("[[grid]]\n" + GOOD + "seed = []\n", "'seed' is an empty list: the grid has no points"),
        (
            "[[grid]]\n" + GOOD + "d = [{seed = 2}, 3]\n",
            "'d' mixes tables and values: give tables only, or values only",
        ),
        ("[[grid]]\n" + GOOD + "seed = 1\nd = [{seed = 2}]\n", "'seed' is given twice for one point"),
        (
            "[[point]]\n" + GOOD + "seed = [1, 2]\n",
            "'seed' is a list, but a point has one value for each key; use [[grid]]",
        ),
        ("", "no points: write a [[grid]] or a [[point]] with at least 'algorithm' and 'graph'"),
        ("grid = 3\n", "'grid' must be a table or several: write [[grid]]"),
        ("[[grid]\n", "Expected ']]' at the end of an array declaration"),
        ("[[grid]]\n" + GOOD + f"seed = {list(range(400))}\nsource = {list(range(400))}\n", "more than 100000 points"),
    ],
)
def test_bad_files_are_told_what_to_write(tmp_path, text, complaint):
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(SweepError) as problem:
        read_sweep(file)
    assert str(problem.value).startswith(f"{file}: ") and complaint in str(problem.value)


def test_a_missing_file():
    with pytest.raises(SweepError, match=r"^nowhere\.toml: no such file$"):
        read_sweep("nowhere.toml")


# Running.


def test_what_is_stored_is_not_run_again(tmp_path):
    store = tmp_path / "runs.db"
    first = run_sweep(requests(3), store, QUIET)
    assert [record.status for record in first] == ["done"] * 3
    before = {record.key: record.finished_at for record in first}
    second = run_sweep(requests(4), store, QUIET)
    assert len(second) == 4
    assert {record.key: record.finished_at for record in second if record.key in before} == before
    record = second[requests(1)[0]]
    assert record.result["check"] == "pass" and record.result["options"]["seed"] == 1
    assert len(record.result["answer_hash"]) == 32 and "host_seconds" not in record.result


def test_a_failing_point_is_recorded_and_the_rest_goes_on(tmp_path):
    impossible = make_request("bfs", "grid-5x5", {"gpu": "titanx", "overrides": {"l2.ways": 7}})
    outside = make_request("bfs", "grid-5x5", {"source": 99})
    results = run_sweep([impossible, outside, *requests(2)], tmp_path / "runs.db", QUIET)
    assert sorted(record.status for record in results) == ["done", "done", "failed", "failed"]
    errors = {record.error_kind: record.error for record in results.failed}
    assert errors["OptionError"] == "source 99 is not a node: the graph has nodes 0 to 24"
    assert "l2.size_bytes" in errors["MachineError"] and "l2.ways" in errors["MachineError"]
    with pytest.raises(WarpsiftError, match="bfs on grid-5x5 failed: source 99 is not a node"):
        results[outside]
    with pytest.raises(KeyError, match="was not part of this sweep"):
        results[make_request("wcc", "grid-5x5", {})]


def test_failures_are_retried_on_demand(tmp_path):
    (point,) = points(1)
    with Store(tmp_path / "runs.db") as ledger:
        ledger.fail(point, "WorkerDied", "out of memory")
    assert [r.status for r in run_sweep(requests(1), tmp_path / "runs.db", QUIET)] == ["failed"]
    again = SweepOptions(workers=1, quiet=True, retry_failed=True)
    assert [r.status for r in run_sweep(requests(1), tmp_path / "runs.db", again)] == ["done"]


def test_two_sweeps_share_a_store_and_run_each_point_once(tmp_path):
    """Both see all points; what one runs the other waits for."""
    store = tmp_path / "runs.db"
    Store(store).close()
    pools = [WatchedPool(), WatchedPool()]
    problems = []

    def sweep(pool: WatchedPool) -> None:
        try:
            with Store(store) as ledger:
                run_points(points(12), ledger, pool, SweepProgress(enabled=False))
        except BaseException as error:
            problems.append(error)

    points(1)  # what is imported lazily is imported before the threads start
    threads = [threading.Thread(target=sweep, args=(pool,)) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not problems
    seeds = [task.request.options.seed for pool in pools for task in pool.tasks]
    assert sorted(seeds) == list(range(1, 13))
    assert all(pool.tasks for pool in pools)
    with Store(store) as ledger:
        assert set(ledger.statuses().values()) == {"done"}


def test_a_full_disk_stops_the_sweep_with_a_word(tmp_path):
    with Store(tmp_path / "runs.db") as ledger:
        pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
        ledger._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="is full: finished runs are kept"):
            run_points(points(40), ledger, WatchedPool(), SweepProgress(enabled=False))
        ledger._db.execute("PRAGMA max_page_count = 100000")
        assert "claimed" not in ledger.statuses().values()


# The command, interrupted and killed.


def sweep_file(folder: Path, seeds: int, algorithm: str = "sssp", graph: str = "kron-11") -> Path:
    file = folder / "s.toml"
    text = f'[[grid]]\nalgorithm = "{algorithm}"\ngraph = "{graph}"\nseed = {list(range(1, seeds + 1))}\n'
    file.write_text(text)
    return file


def start(*words) -> subprocess.Popen:
    pipe = subprocess.PIPE
    return subprocess.Popen([*WARPSIFT, *map(str, words)], stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def wait_for(store: Path, status: str, count: int, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if store.exists():
            try:
                with Store(store, readonly=True) as ledger:
                    if list(ledger.statuses().values()).count(status) >= count:
                        return
            except StoreError:
                pass
        time.sleep(0.02)
    out, err = process.communicate() if process.poll() is not None else ("", "")
    raise AssertionError(f"the sweep never had {count} points {status}: {out} {err}")


def workers_of(session: int) -> list[int]:
    """Processes of a session that still live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def all_gone(session: int) -> bool:
    deadline = time.monotonic() + 30
    while workers_of(session) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not workers_of(session)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_killed_at_any_point_it_goes_on_where_it_stopped(tmp_path):
    store, file = tmp_path / "runs.db", sweep_file(tmp_path, 6)
    process = start("sweep", file, "--store", store, "--workers", 2)
    wait_for(store, "done", 2, process)
    process.kill()
    process.communicate()
    assert all_gone(process.pid), "the workers of a killed sweep end by themselves"
    with Store(store) as ledger:
        finished = {record.key: record.finished_at for record in ledger.records()}
        assert "claimed" in ledger.statuses().values()  # it was in the middle
    assert 2 <= len(finished) < 6
    done = call("sweep", file, "--store", store, "--workers", 1)
    assert done.returncode == 0 and f"6 of 6 points are in {store}" in done.stdout.replace("\n", " ")
    with Store(store) as ledger:
        records = ledger.records()
    assert {r.key: r.finished_at for r in records if r.key in finished} == finished
    assert len(records) == 6 and all(record.result["check"] == "pass" for record in records)
    assert sqlite3.connect(store).execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_keeps_what_is_finished(tmp_path, number):
    store = tmp_path / "runs.db"
    process = start("sweep", sweep_file(tmp_path, 6), "--store", store, "--workers", 1)
    wait_for(store, "done", 1, process)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: to the workers too
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == ""
    assert err.splitlines()[-1] == f"interrupted; finished runs are in {store}; the same command goes on from there"
    assert "Traceback" not in err
    assert all_gone(process.pid)
    with Store(store) as ledger:
        statuses = list(ledger.statuses().values())
    assert set(statuses) == {"done"} and 1 <= len(statuses) < 6


def test_dry_run_shows_the_points_and_runs_nothing(tmp_path):
    file = sweep_file(tmp_path, 3, "bfs", "grid-5x5")
    store = tmp_path / "runs.db"
    done = call("sweep", file, "--store", store, "--dry-run")
    assert done.returncode == 0 and "3 points, 3 of them to run" in done.stdout
    assert not store.exists()
    assert call("sweep", file, "--store", store, "--workers", 1).returncode == 0
    rows = json.loads(call("sweep", file, "--store", store, "--dry-run", "--json").stdout)
    assert [row["state"] for row in rows] == ["done"] * 3


def test_a_failed_point_is_exit_code_1(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[[grid]]\nalgorithm = "bfs"\ngraph = "grid-5x5"\nsource = [0, 99]\n')
    done = call("sweep", file, "--store", tmp_path / "runs.db", "--workers", 1)
    assert done.returncode == 1
    assert "failed: bfs on grid-5x5: source 99 is not a node: the graph has nodes 0 to 24" in done.stdout
    assert "1 of 2 points" in done.stdout


# Asking.


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("store") / "runs.db"
    wanted = [
        make_request(a, g, {"seed": s, "style": style})
        for a in ("bfs", "wcc")
        for g in ("grid-5x5", "kron-6")
        for s in (1, 2)
        for style in ("frontier", "vertex")
    ]
    run_sweep(wanted, path, QUIET)
    return path


@pytest.fixture(scope="module")
def records(store):
    with Store(store, readonly=True) as ledger:
        return ledger.records()


def test_where(records):
    rows = [flat_row(record) for record in records]
    assert len(rows) == 16
    assert len(where(rows, ["algorithm = 'bfs'"])) == len(where(rows, ["algorithm=bfs"])) == 8
    assert len(where(rows, ["algorithm = bfs and graph ~ KRON", "seed>=2"])) == 2
    assert len(where(rows, ["gpu = none"])) == 16 and where(rows, ["unit != none"]) == []
    assert len(where(rows, ["edges > 1e1", "nodes != 25"])) == 8
    assert where(rows, ["graph = 'a and b'"]) == []
    with pytest.raises(
        QueryError, match=r"^unknown column 'grap': did you mean 'graph'\? choose one of algorithm, graph"
    ):
        where(rows, ["grap=kron"])
    with pytest.raises(QueryError, match=r"^cannot read the test 'kron': write KEY=VALUE, such as gpu=gtx980"):
        where(rows, ["kron"])


def test_sort(records):
    rows = [flat_row(record) for record in records]
    down = [row["transactions"] for row in sort(rows, ["-transactions"])]
    assert down == sorted(down, reverse=True)
    keys = [(row["graph"], row["transactions"]) for row in sort(rows, ["graph", "transactions"])]
    assert keys == sorted(keys)


def test_compare_pairs_runs_that_differ_in_one_key(records):
    found = compare(records, "style=frontier,vertex", ["transactions"])
    assert len(found.rows) == 8
    for row in found.rows:
        assert row["transactions ratio"] == row["transactions A"] / row["transactions B"]
    product = 1.0
    for row in found.rows:
        product *= row["transactions ratio"]
    assert found.means()["transactions"] == pytest.approx(product ** (1 / 8))
    with pytest.raises(QueryError, match=r"^no two runs differ in seed = 1, 7 alone; seed is 1, 2$"):
        compare(records, "seed=1,7")
    with pytest.raises(QueryError, match=r"^cannot read 'style': write KEY=A,B, such as unit=none,scu$"):
        compare(records, "style")


def test_pareto_front_by_hand(records):
    designs = pareto(records, "transactions", "warp_instructions")
    assert [design.name for design in designs] and {d.name for d in designs} == {"frontier", "vertex"}
    assert designs[0].workloads == 8 and designs[0].on_front
    for design in designs:
        beaten = any(o.x <= design.x and o.y <= design.y and o is not design for o in designs)
        assert design.on_front == (not beaten)
    mine = [flat_row(r)["transactions"] for r in records if r.request["style"] == "vertex"]
    product = 1.0
    for value in mine:
        product *= value
    assert next(d.x for d in designs if d.name == "vertex") == pytest.approx(product ** (1 / 8))


def test_export(records, tmp_path):
    import pandas

    rows = [flat_row(record) for record in records]
    flat = pandas.read_parquet(export(rows, tmp_path / "a.parquet"))
    text = pandas.read_csv(export(rows, tmp_path / "a.csv"))
    frame = to_dataframe(records)
    for table in (flat, text, frame):
        assert table["transactions"].tolist() == [row["transactions"] for row in rows]
        assert table["graph"].tolist() == [row["graph"] for row in rows]
    with pytest.raises(ExportError, match=r"name it something\.csv or something\.parquet"):
        export(rows, tmp_path / "a.xlsx")


def test_one_run_as_a_dataframe():
    import warpsift

    result = warpsift.simulate("bfs", "grid-5x5")
    assert to_dataframe(result)["phase"].tolist() == [phase.name for phase in result.phases]
    assert to_dataframe([result, result])["graph"].tolist() == ["grid-5x5"] * 2


def test_results_show_themselves_in_a_notebook(tmp_path):
    results = run_sweep(requests(2), tmp_path / "runs.db", QUIET)
    assert results._repr_html_().count("<tr>") == 3


def test_the_results_command(store, tmp_path):
    rows = json.loads(call("results", "--store", store, "--where", "algorithm=bfs", "--json").stdout)
    assert len(rows) == 8 and {row["algorithm"] for row in rows} == {"bfs"}
    shown = call("results", "--store", store, "-c", "graph,transactions", "--sort", "-transactions", "-n", 1).stdout
    assert shown.split() == [
        "graph",
        "transactions",
        "kron-6",
        str(max(r["transactions"] for r in json.loads(call("results", "--store", store, "--json").stdout))),
    ]
    compared = call(
        "results", "--store", store, "--compare", "style=frontier,vertex", "--metric", "transactions"
    ).stdout
    assert "transactions: geometric mean of style = frontier over style = vertex:" in compared
    done = call("results", "--store", store, "--export", tmp_path / "a.csv")
    assert done.returncode == 0 and len((tmp_path / "a.csv").read_text().splitlines()) == 17
    missing = call("results", "--store", tmp_path / "no.db")
    assert missing.returncode == 2 and missing.stderr.startswith("error: no store at ")


def test_the_pareto_command(store, tmp_path):
    picture = tmp_path / "front.svg"
    words = ("pareto", "--store", store, "--x", "transactions", "--y", "warp_instructions")
    done = call(*words, "-o", picture)
    assert done.returncode == 0 and "geometric means over 8 workloads" in done.stdout
    assert "vertex" in picture.read_text()
    assert {row["name"] for row in json.loads(call(*words, "--json").stdout)} == {"frontier", "vertex"}


def test_outcomes_differ_only_where_they_should(records):
    assert len({outcome(record)[0] for record in records}) == 16
