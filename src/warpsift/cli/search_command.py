"""`warpsift search`: the best designs in far fewer runs than a grid takes."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsift.cli.app import CONTEXT, JsonOption, app, console, print_json
from warpsift.cli.guard import Interrupted
from warpsift.cli.sweep_command import DEFAULT_STORE, StoreOption, _interrupt

if TYPE_CHECKING:
    from warpsift.search import Found


@app.command(context_settings=CONTEXT)
def search(
    file: Annotated[Path, typer.Argument(help="A search file (TOML); see docs/search.md.")],
    store: StoreOption = DEFAULT_STORE,
    designs: Annotated[int | None, typer.Option(min=1, help="Designs to try; default: as the file says.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Another seed than the file's.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes; default: one per core.")] = None,
    dask: Annotated[str | None, typer.Option(help="Run on the Dask cluster with this scheduler address.")] = None,
    page: Annotated[Path | None, typer.Option("--output", "-o", help="The front as a page: front.html.")] = None,
    write: Annotated[Path | None, typer.Option(help="A folder for the front's designs as machine files.")] = None,
    csv: Annotated[Path | None, typer.Option(help="All designs that were tried, as a table.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the designs that no other beats in time, energy and area, without running them all.

    May be stopped: the same command on the same store goes on where it was. Needs pip install 'warpsift[search]'.

    \b
    Examples:
      warpsift search find.toml
      warpsift search find.toml --designs 100 --store night.db --output front.html --write designs
      warpsift run bfs --graph kron-10 --gpu designs/design-01.toml --unit scu
    """
    from dataclasses import replace

    from warpsift.paths import check_output
    from warpsift.search import read_search
    from warpsift.search import search as run_search
    from warpsift.sweep import SweepOptions

    if page is not None:
        check_output(page, "--output", (".html",))
    if csv is not None:
        check_output(csv, "--csv", (".csv", ".parquet"))
    spec = read_search(file)
    spec = replace(spec, designs=designs or spec.designs, seed=spec.seed if seed is None else seed)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        found = run_search(spec, store, SweepOptions(workers=workers, dask=dask, quiet=as_json))
    except KeyboardInterrupt:
        raise Interrupted(f"finished runs are in {store}; the same command goes on from there") from None
    _write(found, page, write, csv)
    if as_json:
        print_json(_data(found))
    else:
        _show(found)


def _write(found: Found, page: Path | None, write: Path | None, csv: Path | None) -> None:
    from warpsift.search.design_file import write_designs
    from warpsift.search.front_page import rows, write_page
    from warpsift.store.export import export

    command = shlex.join(["warpsift", *sys.argv[1:]])
    if page is not None:
        write_page(found, page, command)
    if write is not None:
        write_designs(found, write, command)
    if csv is not None:
        export(rows(found), csv)


def _data(found: Found) -> dict[str, Any]:
    from warpsift.search.front_page import sentence

    designs = {tried.design for tried in found.front}
    return {
        "summary": sentence(found),
        "objectives": list(found.spec.objectives),
        "designs_in_all": found.spec.size,
        "new_runs": found.ran,
        "tried": [
            {
                "design": dict(tried.choices),
                "costs": dict(tried.costs),
                "allowed": tried.allowed,
                "on_front": tried.design in designs,
                "problem": tried.problem,
            }
            for tried in found.tried
        ],
    }


def _show(found: Found) -> None:
    from rich.text import Text

    from warpsift.report.screen_tables import table_of
    from warpsift.search.front_page import area_note, sentence
    from warpsift.search.numbers_in_words import cost_in_words

    screen = console()
    screen.print(Text(sentence(found), style="bold"))
    front = found.front
    if front:
        keys, costs = list(dict.fromkeys(k for t in front for k in t.choices)), list(front[0].costs)
        cells = [
            [f"{number:02}", *(t.choices.get(k, "") for k in keys), *(cost_in_words(c, t.costs[c]) for c in costs)]
            for number, t in enumerate(front, 1)
        ]
        screen.print(table_of("", ["design", *keys, *costs], cells))
    for line in area_note(found):
        screen.print(Text(line))
    for tried in [t for t in found.tried if t.problem][:3]:
        screen.print(Text(f"could not run: {dict(tried.choices)}: {tried.problem}", style="red"))
