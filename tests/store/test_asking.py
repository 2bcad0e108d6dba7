"""Asking a store: tests, order, pairs, fronts, tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import call
from support.sweeping import outcome, requests
from warpsift.run.request import make_request
from warpsift.store.designs import compare, pareto
from warpsift.store.export import ExportError, export, to_dataframe
from warpsift.store.rows import QueryError, default_columns, flat_row, flat_rows, named_in, sort, where
from warpsift.store.store import Store
from warpsift.sweep import SweepOptions, run_sweep

QUIET = SweepOptions(workers=1, quiet=True)


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
        QueryError, match=r"^unknown column 'grap': did you mean 'graph'\? \('warpsift results --json' "
    ):
        where(rows, ["grap=kron"])
    assert named_in(["algorithm = 'x and y' and seed>=2", "l2.size_bytes<1e6", "kron"]) == {
        "algorithm",
        "seed",
        "l2.size_bytes",
    }
    with pytest.raises(QueryError, match=r"^cannot read the test 'kron': write KEY=VALUE, such as gpu=gtx980"):
        where(rows, ["kron"])


def test_rows_with_some_columns_agree_with_whole_ones(tmp_path):
    path = tmp_path / "timed.db"
    sizes = [{"gpu": "gtx980", "overrides": {"l2.size_bytes": size}} for size in (1 << 20, 1 << 21)]
    run_sweep([make_request("bfs", "grid-5x5", choice) for choice in sizes], path, QUIET)
    wanted = {"cycles", "stall_stack.memory", "sm.count"}
    with Store(path, readonly=True) as ledger:
        whole = [flat_row(record) for record in ledger.records()]
        some = flat_rows(ledger.records(parts={"cycles", "stall_stack"}), wanted)
        fewer = flat_rows(ledger.records(parts={"cycles"}), {"cycles"})  # from the numbers beside the results
    assert [{name: full[name] for name in row} for full, row in zip(whole, fewer, strict=True)] == fewer
    assert [{name: full[name] for name in row} for full, row in zip(whole, some, strict=True)] == some
    assert all(wanted | {"l2.size_bytes", "machine", "check"} <= set(row) for row in some)
    assert "dram.channels" not in some[0] and "phases" not in some[0] and len(some[0]) < len(whole[0]) / 2
    assert [name for name in default_columns(some) if "." in name] == ["l2.size_bytes"]


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
