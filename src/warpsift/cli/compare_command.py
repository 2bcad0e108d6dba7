"""`warpsift compare`: units side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from warpsift.algorithms import ALGORITHMS, Options
from warpsift.algorithms.options import option
from warpsift.cli.app import app, console, load_for, overrides_of, print_json
from warpsift.cli.declared_options import (
    GRAPH,
    JSON,
    AlgorithmGroup,
    Given,
    MachineChanges,
    add_group,
    command,
    of_algorithm,
    parameters,
)
from warpsift.cli.run_extras import THREADS, named_algorithms
from warpsift.paths import check_output
from warpsift.report.pictures import PICTURES
from warpsift.run.request import LOADING, Request, RequestError

SHOWN = [p for p in parameters(Request) if p.name not in ("style", "unit")]
HELP = """Run an algorithm with and without special units and print them side by side.

\b
Each algorithm has options of its own: warpsift compare bfs --help
\b
Examples:
  warpsift compare sssp --graph kron-16 --gpu tx1 --units none,scu-basic,scu
  warpsift compare pagerank --graph dblp-2010@1/8 --gpu gtx480 --units none,mff --max-iterations 2
  warpsift compare pagerank --graph dblp-2010@1/8 --gpu gtx480 --units none,mff --occupancy target
  warpsift compare bfs --graph cond --gpu tx1 --readings authors,hardware
  warpsift compare bfs --graph delaunay-16 --gpu gtx980 --plot bars.png
  warpsift compare bfs --graph kron-14 --gpu tx1 --sensitivity --set costs.gpu_idle=power_gate
"""


@dataclass(frozen=True)
class Shown:
    """What is compared and how it is shown."""

    units: str = option("none,scu-basic,scu", "Separated by commas (see 'warpsift list units').")
    readings: str = option("", "Several readings one after the other: authors,hardware.")
    plot: Path | None = option(None, "Draw bars of time and energy: a .png, .svg or .pdf file.")
    threads: int | None = option(None, THREADS, minimum=1)
    sensitivity: bool = option(False, "What halving and doubling each energy price does to the saving.")

    @classmethod
    def taken_from(cls, given: Given) -> Shown:
        """Take out of the given options what belongs here."""
        return cls(
            **{
                name: given.pop(name)
                for name in ("units", "readings", "plot", "threads", "sensitivity")
                if name in given
            }
        )

    @property
    def names(self) -> list[str]:
        return [name.strip() for name in self.units.split(",") if name.strip()]

    def each_reading(self, given: Given) -> list[Given]:
        """What was chosen, once for each reading."""
        names = [name.strip() for name in self.readings.split(",") if name.strip()]
        if names and given.get("reading"):
            raise RequestError("--reading and --readings: write one of them")
        if len(names) > 1 and self.plot is not None:
            raise RequestError("--plot draws one comparison: write one --reading")
        return [given | {"reading": name} for name in names] or [given]


COMMON = [*SHOWN, *parameters(Shown), *parameters(MachineChanges), JSON]


class CompareGroup(AlgorithmGroup):
    """`warpsift compare ALGORITHM`."""

    def own_command(self, name: str) -> Any:
        text = f"Compare units: {ALGORITHMS[name].title}."
        own = [GRAPH, *of_algorithm(ALGORITHMS[name].options), *COMMON]
        return command(name, lambda given: compare_units(name, given), own, text)


def compare_units(algorithm: str, given: Given) -> None:
    """Run once per unit and baseline, print side by side."""
    from warpsift.report.progress import Progress
    from warpsift.run.comparison import check_comparison
    from warpsift.run.comparison import compare as run_all
    from warpsift.run.observer import Observer

    graph, as_json = given.pop("graph", None), given.pop("as_json")
    if graph is None:
        raise RequestError(f"{algorithm} needs a graph: --graph FILE, or a name such as --graph delaunay-14")
    shown = Shown.taken_from(given)
    if shown.plot is not None:
        check_output(shown.plot, "--plot", PICTURES)
    overrides = overrides_of(given.pop("settings", None), given.pop("ideal", None))
    loading = {argument: given.pop(name) for name, argument in LOADING.items() if name in given}
    every = shown.each_reading(given | {"overrides": overrides})
    for choices in every:
        check_comparison(algorithm, graph, shown.names, choices)
    loaded = load_for(graph, f"{algorithm} on {graph}", **loading)
    with Progress(f"{algorithm} on {graph}") as progress:
        observer = Observer(lambda phase, launch: progress.note(f"launch {launch} ({phase})"), None, progress.cycles)
        found = [
            run_all(algorithm, loaded, shown.names, observer=observer, threads=shown.threads, **choices)
            for choices in every
        ]
    if shown.plot is not None:
        from warpsift.report.bars import draw

        draw(found[0], shown.plot)
    _print(found, shown, as_json)
    if any(entry.result.check == "fail" for comparison in found for entry in comparison.entries):
        raise typer.Exit(1)


def _print(found: list[Any], shown: Shown, as_json: bool) -> None:
    from warpsift.report.energy_tables import print_sensitivity
    from warpsift.report.run_tables import print_comparison

    if as_json:
        every = [comparison.as_dict(shown.sensitivity) for comparison in found]
        print_json(every if shown.readings else every[0])
        return
    for comparison in found:
        print_comparison(console(), comparison)
        if shown.sensitivity:
            print_sensitivity(console(), comparison)


def without_algorithm(given: Given) -> None:
    raise RequestError(f"nothing to compare: give an algorithm ({named_algorithms()}) with --graph and --gpu")


add_group(app, CompareGroup, "compare", without_algorithm, [GRAPH, *parameters(Options), *COMMON], HELP)
