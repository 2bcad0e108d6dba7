"""`warpsift explore`: stored runs as one page to look around in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsift.cli.app import CONTEXT, app, console
from warpsift.cli.sweep_command import AllVersions, WhereOption
from warpsift.run.request import RequestError


@app.command(context_settings=CONTEXT)
def explore(
    source: Annotated[Path, typer.Argument(help="A store of runs, or a folder of results written with --json.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("explorer.html"),
    where: WhereOption = None,
    all_versions: AllVersions = False,
) -> None:
    """Write a page to explore runs: choose graph, algorithm, GPU and unit; see two runs side by side.

    The page holds all data and needs no server: open it in any browser, or send it to somebody.

    \b
    Examples:
      warpsift explore warpsift.db
      warpsift explore reproduce-scu/results.db --where gpu=tx1 -o tx1.html
      warpsift run bfs --graph kron-14 --gpu gtx980 --json > results/bfs.json && warpsift explore results/
    """
    if output.suffix not in (".html", ".htm"):
        raise RequestError(f"--output {output}: name a page, such as explorer.html")
    if source.is_dir() and where:
        raise RequestError("--where asks a store; a folder of results is shown as a whole")
    from warpsift.report.explorer import cards_of_folder, cards_of_records, write_explorer
    from warpsift.store.asking import stored_rows

    left_out = 0
    if source.is_dir():
        cards = cards_of_folder(source)
    else:
        records, _, left_out = stored_rows(source, where or [], all_versions)
        cards = cards_of_records(records)
        failed = len(records) - len(cards)
        if failed:
            console().print(f"{failed} failed runs left out")
    if not cards:
        raise RequestError(f"{source} holds no finished runs: fill it with 'warpsift sweep' or 'warpsift run --json'")
    page = write_explorer(output, cards, f"Runs of {source.name or source}")
    console().print(f"{len(cards)} runs in {page}", markup=False)
    if left_out:
        console().print(f"{left_out} runs of other versions left out (--all-versions shows them)")
