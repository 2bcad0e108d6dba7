"""How large to reproduce a paper: quickly at a thirty-second of the size, or in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warpsift.errors import WarpsiftError
from warpsift.graph.presets import presets
from warpsift.graph.real_files import find_real

MANY_ARCS = 2_000_000  # of a graph that is searched from one source


class ScaleError(WarpsiftError):
    """A folder of graphs that cannot be used."""


@dataclass(frozen=True)
class Scale:
    """Which graphs, and how many sources."""

    name: str
    denominator: int  # graphs at 1 / denominator of the paper's nodes
    seeds: tuple[int, ...]  # sources of BFS and SSSP; of a large graph the first alone
    iterations: int = 2  # of PageRank and of other whole-graph sweeps; the ratios do not depend on how many
    files: Mapping[str, str] = field(default_factory=dict)  # real graphs, by the paper's name
    smaller: Mapping[str, int] = field(default_factory=dict)  # graphs that are smaller still, by this factor
    reading: str | None = None  # of what the papers leave open
    sample: int = 0  # time one part in so many; 0: all of it
    conclusive: bool = True  # False: too small to say anything of the paper

    def graph(self, name: str) -> str:
        """What to load for one of the paper's graphs: the user's file if there is one, else the stand-in."""
        if name in self.files:
            return self.files[name]
        denominator = self.denominator * self.smaller.get(name, 1)
        return name if denominator == 1 else f"{name}@1/{denominator}"

    def sources(self, name: str) -> tuple[int, ...]:
        """Seeds of the sources from which one of the paper's graphs is searched."""
        denominator = self.denominator * self.smaller.get(name, 1)
        return self.seeds if presets()[name].arcs <= MANY_ARCS * denominator else self.seeds[:1]

    def size(self, names: Iterable[str]) -> str:
        """How large the stand-ins among these graphs are, in words."""
        if self.denominator == 1:
            return "the paper's size"
        further = [f"{name} 1/{self.denominator * factor}" for name, factor in self.smaller.items() if name in names]
        return f"1/{self.denominator} of the paper's size" + (f" ({', '.join(further)})" if further else "")


# dewiki-2013 has six times the arcs of the next: as much again as all other graphs of its paper together.
# From 1/32 to full size a win may become a loss (SCU's BFS on cnr-2000: 1.18 to 0.16), so it concludes nothing.
QUICK = Scale("quick", 32, (1,), smaller={"dewiki-2013": 4}, conclusive=False)
MEDIUM = Scale("medium", 8, (1, 2))
FULL = Scale("full", 1, (1, 2, 3))
SCALES = {scale.name: scale for scale in (QUICK, MEDIUM, FULL)}


def real_files(folder: Path, names: list[str]) -> dict[str, str]:
    """The papers' graphs that lie in a folder, by their usual file names."""
    if not folder.is_dir():
        raise ScaleError(f"--graphs {folder}: no such folder")
    found = {name: str(path) for name in names if (path := find_real(name, [folder])) is not None}
    if not found:
        wanted = ", ".join(stem for name in names for stem in presets()[name].files)
        raise ScaleError(f"--graphs {folder}: none of the papers' graphs is there; file names begin with {wanted}")
    return found
