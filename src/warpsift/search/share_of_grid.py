"""How much of a whole grid's front a search finds, and in how few designs.

    python -m warpsift.search.share_of_grid find.toml --store grid.db --csv grid.csv

Runs every design of the file once, then searches among their results, with many seeds: for each, the hypervolume of
what was tried over that of the whole grid. Beside it, as many designs drawn at random. Hypervolume is taken twice, each
objective scaled to 0 and 1: over the grid, up to its worst; and over the front alone, up to a tenth beyond its worst,
which forgives less.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warpsift.search.hypervolume import Costs, front, hypervolume, scaled_to
from warpsift.search.search_file import Design, SearchSpec, read_search
from warpsift.search.search_run import Runs, propose_and_try
from warpsift.search.tried import Tried
from warpsift.store.export import export
from warpsift.sweep import SweepOptions

SHARE = 0.1  # of the grid's designs
SEEDS = 20
CHUNK = 64  # designs run at once
BEYOND = 1.1  # reference of the front's own span


@dataclass(frozen=True)
class Grid:
    """Every design of a search file with its costs."""

    spec: SearchSpec
    tried: Mapping[Design, Tried]

    def costs(self, designs: Sequence[Design]) -> list[Costs]:
        found = [self.tried[design] for design in designs]
        return [[each.costs[name] for name in self.spec.objectives] for each in found if each.allowed]

    def shares(self, designs: Sequence[Design]) -> tuple[float, float]:
        """Hypervolume of some designs over that of all: over the grid's span, and over the front's."""
        everything, some = self.costs(list(self.tried)), self.costs(designs)
        best = [everything[k] for k in front(everything)]
        ones = [1.0] * len(self.spec.objectives)
        result = []
        for span, edge in ((everything, 1.0), (best, BEYOND)):
            reference = [edge * one for one in ones]
            whole = hypervolume(scaled_to(best, span), reference)
            result.append(hypervolume(scaled_to(some, span), reference) / whole if whole else 1.0)
        return result[0], result[1]

    def found(self, designs: Sequence[Design]) -> float:
        """The share of the front's designs among some."""
        everything = list(self.tried)
        allowed = [design for design in everything if self.tried[design].allowed]
        best = {allowed[k] for k in front(self.costs(allowed))}
        return len(best & set(designs)) / len(best)


def run_grid(spec: SearchSpec, store: Path, workers: int | None) -> Grid:
    """Run what the store does not have."""
    designs = list(spec.grid())
    tried: dict[Design, Tried] = {}
    with Runs(spec, store, SweepOptions(workers=workers)) as runs:
        for start in range(0, len(designs), CHUNK):
            tried |= {each.design: each for each in runs.evaluate(designs[start : start + CHUNK])}
            print(f"{len(tried)} of {len(designs)} designs", file=sys.stderr, flush=True)
    return Grid(spec, {design: each for design, each in tried.items() if not each.problem})


def searched(grid: Grid, seed: int, count: int) -> list[Design]:
    """The designs that a search tries."""
    spec = replace(grid.spec, seed=seed, designs=count)
    return [each.design for each in propose_and_try(spec, lambda batch: [grid.tried[design] for design in batch])]


def drawn(grid: Grid, seed: int, count: int) -> list[Design]:
    """As many at random."""
    return random.Random(seed).sample(list(grid.tried), count)


def table(grid: Grid, seeds: Sequence[int]) -> list[dict[str, object]]:
    """Median, least and most over the seeds, for the search and for chance."""
    count = int(SHARE * len(grid.tried))
    rows: list[dict[str, object]] = []
    for name, choose in (("search", searched), ("at random", drawn)):
        chosen = [choose(grid, seed, count) for seed in seeds]
        shares = [grid.shares(designs) for designs in chosen]
        row: dict[str, object] = {"designs": f"{count} of {len(grid.tried)}, {name}"}
        for column, values in zip(
            ("of the grid's hypervolume", "of the front's own"), zip(*shares, strict=True), strict=True
        ):
            row[column] = _spread(list(values))
        row["seeds with 95 % of the grid's"] = f"{sum(s[0] >= 0.95 for s in shares)} of {len(shares)}"
        row["front designs found"] = _spread([grid.found(designs) for designs in chosen])
        rows.append(row)
    return rows


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.1%} ({min(values):.1%} to {max(values):.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--store", type=Path, default=Path("grid.db"))
    parser.add_argument("--csv", type=Path, help="the whole grid's costs")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--workers", type=int)
    asked = parser.parse_args()
    grid = run_grid(read_search(asked.file), asked.store, asked.workers)
    if asked.csv is not None:
        export([{**each.choices, **each.costs} for each in grid.tried.values()], asked.csv)
    rows = table(grid, range(1, asked.seeds + 1))
    print(f"| {' | '.join(rows[0])} |\n{'|---' * len(rows[0])}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row.values()))} |")


if __name__ == "__main__":
    main()
