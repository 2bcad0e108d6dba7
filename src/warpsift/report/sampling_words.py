"""How sure a sampled run is, in words and behind numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from warpsift.run.record import RunResult
from warpsift.run.sampling.relative_error import relative_half


def plus_minus(interval: Sequence[float] | None) -> str:
    """Half of a 95 % interval behind its number; nothing behind what is exact."""
    if interval is None or interval[0] == interval[1]:
        return ""
    return f" ± {100 * relative_half(interval):.1f} %"


def print_sampling(console: Console, result: RunResult) -> None:
    """One line on how much of a sampled run was timed."""
    if not result.sampling:
        return
    s = result.sampling
    console.print(
        Text(
            f"sampled, one part in {s['sample']}: {100 * s['timed_share']:.1f} % of the cycles timed, "
            f"{s['windows']} windows in {s['launches_timed']} launches, {s['launches_left_out']} launches left out; "
            "± is half of a 95 % interval"
        )
    )
