"""`warpsift sweep`, `warpsift results` and `warpsift pareto`: many runs, and what they say together."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from warpsift.cli.app import CONTEXT, JsonOption, app, console, print_json
from warpsift.cli.guard import Interrupted

StoreOption = Annotated[Path, typer.Option("--store", help="The file that holds the results.")]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where", "-w", help="Keep runs that pass: gpu=gtx980, 'cycles<1e6 and graph~kron'; may be repeated."
    ),
]
AllVersions = Annotated[
    bool, typer.Option("--all-versions", help="Also runs made by other versions of the sources than the newest.")
]
DEFAULT_STORE = Path("warpsift.db")
SHOWN_FAILURES = 10
SHOWN_ROWS = 1000  # of a table on a screen; files and JSON hold all


@app.command(context_settings=CONTEXT)
def sweep(
    file: Annotated[Path, typer.Argument(help="A sweep file (TOML); see docs/sweeps.md.")],
    store: StoreOption = DEFAULT_STORE,
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes; default: one per core.")] = None,
    dask: Annotated[str | None, typer.Option(help="Run on the Dask cluster with this scheduler address.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the points, run nothing.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try recorded failures again.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run every point of a sweep file that is not in the store yet; may be stopped and started again.

    \b
    Examples:
      warpsift sweep l2.toml
      warpsift sweep l2.toml --dry-run
      warpsift sweep l2.toml --store night.db --dask tcp://10.0.0.1:8786
    """
    from warpsift.sweep import SweepOptions, read_sweep, run_sweep

    requests = read_sweep(file)
    if dry_run:
        _show_plan(requests, store, as_json)
        return
    options = SweepOptions(workers=workers, dask=dask, retry_failed=retry_failed, quiet=as_json)
    signal.signal(signal.SIGTERM, _interrupt)  # a batch system's way to say Ctrl-C
    try:
        results = run_sweep(requests, store, options)
    except KeyboardInterrupt:
        raise Interrupted(f"finished runs are in {store}; the same command goes on from there") from None
    wrong = [record for record in results if record.result is not None and record.result["check"] == "fail"]
    if as_json:
        print_json(results.rows())
    else:
        _summary(results, wrong, store)
    if results.failed or wrong:
        raise typer.Exit(1)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _show_plan(requests: list[Any], store: Path, as_json: bool) -> None:
    from warpsift.report.screen_tables import table_of
    from warpsift.store.store import Store
    from warpsift.sweep import plan

    points = plan(requests)
    statuses: dict[str, str] = {}
    if store.exists():
        with Store(store, readonly=True) as ledger:
            statuses = ledger.statuses()
    rows = []
    for point in points:
        request = point.request
        row = {"algorithm": request.algorithm, "graph": request.graph, "style": request.style, "unit": request.unit}
        row |= {"gpu": request.gpu or "", **request.overrides}
        changed = vars(request.options).items() - vars(type(request.options)()).items()
        row |= dict(sorted(changed))
        rows.append(
            row | {"state": statuses.get(point.key, "impossible: " + point.problem if point.problem else "new")}
        )
    if as_json:
        print_json(rows)
        return
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "state"]
    screen = console()
    screen.print(table_of("", [*columns, "state"], [[row.get(c, "") for c in [*columns, "state"]] for row in rows]))
    new = sum(row["state"] not in ("done", "failed") for row in rows)
    screen.print(f"{len(rows)} points, {new} of them to run")


def _summary(results: Any, wrong: list[Any], store: Path) -> None:
    from rich.text import Text

    screen = console()
    done = len(results) - len(results.failed)
    screen.print(Text(f"{done} of {len(results)} points are in {store}"))
    for record in results.failed[:SHOWN_FAILURES]:
        name = f"{record.request['algorithm']} on {record.graph['name']}"
        screen.print(Text(f"failed: {name}: {record.error.splitlines()[-1]}", style="red"))
    if len(results.failed) > SHOWN_FAILURES:
        screen.print(Text(f"and {len(results.failed) - SHOWN_FAILURES} more: warpsift results --where status=failed"))
    for record in wrong[:SHOWN_FAILURES]:
        name = f"{record.request['algorithm']} on {record.graph['name']}"
        screen.print(Text(f"wrong answer: {name}: {record.result['check_reason']}", style="bold red"))


@app.command("results", context_settings=CONTEXT)
def results_(
    store: StoreOption = DEFAULT_STORE,
    where: WhereOption = None,
    columns: Annotated[
        str | None, typer.Option("--columns", "-c", help="Columns to show: graph,cycles; or 'all'.")
    ] = None,
    sort: Annotated[list[str] | None, typer.Option("--sort", "-s", help="Column; -cycles: largest first.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Show so many.")] = None,
    compare: Annotated[str | None, typer.Option(help="Two values of a key side by side: unit=none,scu.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="With --compare: columns to compare.")] = None,
    export: Annotated[Path | None, typer.Option(help="Write to a .csv or .parquet file.")] = None,
    all_versions: AllVersions = False,
    as_json: JsonOption = False,
) -> None:
    """Show stored runs: filtered, sorted, compared, exported.

    \b
    Examples:
      warpsift results --where "gpu = 'gtx980'" --sort -cycles
      warpsift results -c algorithm,graph,l2.size_bytes,cycles
      warpsift results --compare l2.size_bytes=393216,786432
      warpsift results --export runs.parquet
    """
    from warpsift.store.asking import ask
    from warpsift.store.export import export as write
    from warpsift.store.rows import COUNTED_METRICS, TIMED_METRICS, columns_of, default_columns

    chosen = [name.strip() for name in columns.split(",")] if columns and columns != "all" else []
    everything = columns == "all" or (not columns and (as_json or export is not None))
    rows, comparison, left_out = ask(
        store, where or [], sort or [], None if everything else chosen, (compare, metric or []), all_versions
    )
    rows = rows[:limit]
    if comparison is not None:
        extra = [f"{m} {part}" for m in comparison.metrics for part in ("A", "B", "ratio")]
        inputs = [n for n in default_columns(rows) if n not in (*TIMED_METRICS, *COUNTED_METRICS, "check")]
        shown = [name for name in inputs if name not in comparison.metrics] + extra
    else:
        shown = default_columns(rows)
    if columns == "all":
        shown = columns_of(rows)
    elif columns:
        shown = chosen if rows else []
    if export is not None:
        write(rows, export, shown if columns or comparison else None)
    if as_json:
        print_json([{name: row.get(name) for name in shown} for row in rows] if columns or comparison else rows)
    elif export is None:
        _print_rows(rows, shown)
        if comparison is not None:
            for name, ratio in comparison.means().items():
                first, second = (f"{comparison.key} = {value}" for value in (comparison.first, comparison.second))
                console().print(f"{name}: geometric mean of {first} over {second}: {ratio:.3f}")
    else:
        console().print(f"{len(rows)} rows in {export}")
    if left_out and not as_json:
        console().print(f"{left_out} runs of other versions left out (--all-versions shows them)")


def _print_rows(rows: list[dict[str, Any]], columns: list[str]) -> None:
    from warpsift.report.screen_tables import table_of

    if not rows:
        console().print("no runs")
        return
    shown = rows[:SHOWN_ROWS]
    console().print(table_of("", columns, [[_shown(row.get(name)) for name in columns] for row in shown]))
    if len(rows) > len(shown):
        console().print(f"the first {len(shown)} of {len(rows)} runs; --export FILE.csv or --json gives all of them")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


@app.command(context_settings=CONTEXT)
def pareto(
    store: StoreOption = DEFAULT_STORE,
    x: Annotated[
        str | None, typer.Option("--x", help="Cost: energy_joules (default if there), unit_area_mm2, ...")
    ] = None,
    y: Annotated[str, typer.Option("--y", help="Time, or another cost; smaller is better.")] = "microseconds",
    where: WhereOption = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Plot to a .png, .svg or .pdf file.")] = None,
    all_versions: AllVersions = False,
    as_json: JsonOption = False,
) -> None:
    """Designs by time against energy or area, and those that no other beats.

    \b
    Examples:
      warpsift pareto --x energy_joules -o front.svg
      warpsift pareto --x l2.size_bytes --where algorithm=bfs
    """
    from dataclasses import asdict

    from warpsift.report.charts import draw_pareto
    from warpsift.report.screen_tables import table_of
    from warpsift.store.asking import stored_rows
    from warpsift.store.designs import pareto as designs_of
    from warpsift.store.rows import QueryError

    records, rows, _ = stored_rows(store, where or [], all_versions)
    if not records:
        raise QueryError("no runs to choose from")
    if x is None:
        x = "energy_joules" if any(row.get("energy_joules") is not None for row in rows) else "unit_area_mm2"
    designs = designs_of(records, x, y)
    if output is not None:
        draw_pareto(designs, x, y, output)
    if as_json:
        print_json([asdict(design) for design in designs])
        return
    table = [[d.name, _shown(d.x), _shown(d.y), "front" if d.on_front else ""] for d in designs]
    console().print(table_of("", ["design", x, y, ""], table))
    console().print(f"geometric means over {designs[0].workloads} workloads that every design has run")
