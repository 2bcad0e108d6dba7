"""`warpsift claims`: every number that the papers state, beside ours under each reading, from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsift.cli.app import CONTEXT, JsonOption, app, console, print_json
from warpsift.cli.sweep_command import DEFAULT_STORE, StoreOption

PAPERS = ("scu", "mff")


@app.command(context_settings=CONTEXT)
def claims(
    store: StoreOption = DEFAULT_STORE,
    readings: Annotated[str, typer.Option(help="Separated by commas; the first decides the verdict.")] = (
        "authors,hardware"
    ),
    paper: Annotated[str | None, typer.Option(help="scu or mff; default: both.")] = None,
    full_size: Annotated[
        bool, typer.Option("--full-size", help="Only graphs of the papers' size: a part may say the opposite.")
    ] = False,
    energy: Annotated[
        bool, typer.Option("--energy", help="The energy figures: waiting SMs in three ways, beside the ceilings.")
    ] = False,
    experiments: Annotated[
        bool, typer.Option("--experiments", help="What one changed choice does to a claim that is missed.")
    ] = False,
    csv: Annotated[Path | None, typer.Option(help="Write the table to this file too.")] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="Put the table between <!-- claims --> (<!-- energy claims -->) and its end in this page."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge the papers' claims by stored runs: met within 25 %, same direction or opposite; misses first.

    \b
    Examples:
      warpsift sweep examples/claims_mff.toml --store claims.db
      warpsift claims --store claims.db
      warpsift claims --store claims.db --energy
      warpsift sweep examples/scu_misses.toml --store claims.db && warpsift claims --store claims.db --experiments
      warpsift claims --store claims.db --paper scu --readings authors,authors-2048,hardware --csv scu-claims.csv
    """
    from rich.text import Text

    from warpsift.paths import check_output
    from warpsift.report.screen_tables import table_of
    from warpsift.studies.claim import HELPED, summary, verdicts
    from warpsift.studies.claims_table import columns, judged_claims, write_csv, write_page

    if csv is not None:
        check_output(csv, "--csv", (".csv", ".txt"))
    names = [name.strip() for name in readings.split(",") if name.strip()]
    if experiments:
        _experiments(store, (paper, full_size), (csv, page), as_json)
        return
    if energy:
        _energy(store, (names, paper, full_size), (csv, page), as_json)
        return
    judged = judged_claims(store, names, paper, full_size)
    if csv is not None:
        write_csv(csv, judged)
    if page is not None:
        write_page(page, judged)
    if as_json:
        print_json({"summary": summary(judged), "claims": [each.as_dict() for each in judged]})
        return
    screen = console()
    screen.print(Text("\n".join(verdicts(judged)), style="bold"))
    screen.print(table_of("", columns(names), [each.cells() for each in judged]))
    screen.print(Text(HELPED))


def _energy(
    store: Path, asked: tuple[list[str], str | None, bool], files: tuple[Path | None, Path | None], as_json: bool
) -> None:
    """The energy figures of the papers, three ways of counting SMs that wait for a unit beside each other."""
    from rich.text import Text

    from warpsift.report.screen_tables import table_of
    from warpsift.studies.claims_table import papers_of, stored_runs
    from warpsift.studies.energy_claims import (
        columns,
        energy_figures,
        verdict,
        write_energy_csv,
        write_energy_page,
    )

    (names, paper, full_size), (csv, page) = asked, files
    found = energy_figures(stored_runs(store, names, paper, full_size), papers_of(paper))
    if csv is not None:
        write_energy_csv(csv, found)
    if page is not None:
        write_energy_page(page, found)
    if as_json:
        print_json({"summary": verdict(found), "figures": [each.as_dict() for each in found]})
        return
    screen = console()
    screen.print(Text(verdict(found), style="bold"))
    screen.print(table_of("", columns(names), [each.cells() for each in found]))
    screen.print(Text("savings and ceilings: waiting SMs idle / clock-gated / power-gated (docs/energy.md)"))


def _experiments(
    store: Path, asked: tuple[str | None, bool], files: tuple[Path | None, Path | None], as_json: bool
) -> None:
    """Missed claims with one choice of the reading changed."""
    from functools import cache

    from warpsift.report.screen_tables import table_of
    from warpsift.studies.claim_experiments import COLUMNS, outcomes, write_experiments
    from warpsift.studies.claims_table import claims_of, papers_of, stored_runs

    paper, full_size = asked
    found = []
    for name in papers_of(paper):
        runs = cache(lambda reading, name=name: stored_runs(store, [reading], name, full_size)[0])
        found += outcomes(name, claims_of(name), runs)
    write_experiments(found, *files)
    if as_json:
        print_json({"experiments": [each.as_dict() for each in found]})
        return
    console().print(table_of("", list(COLUMNS), [each.cells() for each in found]))
