"""Energy on the screen: by component, by who took it, with the waiting GPU counted three ways, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from warpsift.report.sampling_words import plus_minus
from warpsift.report.screen_tables import table_of
from warpsift.run.record import RunResult

if TYPE_CHECKING:
    from warpsift.costs.sensitivity import Conclusion
    from warpsift.run.comparison import Comparison

Line = tuple[str, Callable[[dict[str, Any]], str]]
IDLE_LABELS = {"none": "left clocked", "clock_gate": "clock-gated", "power_gate": "power-gated"}
SHOWN_COEFFICIENTS = 8  # of a sensitivity table; the others move the result less


def grouped(by_component: Mapping[str, float]) -> dict[str, float]:
    """Sums of the part of a component's name before its dot: sm, l1, noc, l2, dram, static, scu or mff."""
    parts: dict[str, float] = {}
    for component, value in by_component.items():
        part = component.split(".")[0]
        parts[part] = parts.get(part, 0.0) + value
    return parts


def print_energy(console: Console, result: RunResult) -> None:
    """What `warpsift run` says of a run's energy."""
    energy = result.energy
    low, high = energy["energy_range_joules"]
    total = energy["energy_joules"] or 1.0
    console.print(
        Text(
            f"energy: {1e3 * energy['energy_joules']:.3g} mJ{plus_minus(result.intervals.get('energy_joules'))} "
            f"({1e3 * low:.3g} to {1e3 * high:.3g}), "
            f"{energy['power_watts']:.1f} W; GPU {1e3 * energy['gpu_joules']:.3g} mJ, "
            f"unit {1e3 * energy['unit_joules']:.2g} mJ"
        )
    )
    watts = grouped(energy["power_by_component"])
    largest = sorted(grouped(energy["energy_by_component"]).items(), key=lambda item: -item[1])
    shown = [f"{name} {1e3 * j:.3g} mJ ({watts[name]:.1f} W, {100 * j / total:.0f} %)" for name, j in largest if j > 0]
    console.print(Text("  " + ", ".join(shown)))
    modes = energy["energy_by_gpu_idle"]
    if len(set(modes.values())) > 1:
        three = ", ".join(f"{IDLE_LABELS[mode]} {1e3 * joules:.3g} mJ" for mode, joules in modes.items())
        console.print(Text(f"  SMs while the unit works: {three}; counted: {IDLE_LABELS[energy['gpu_idle']]}"))
    weakest = energy["least_certain"]
    console.print(
        Text(
            f"  {100 * weakest['share']:.0f} % rest on {weakest['coefficient']}, the least certain number", style="dim"
        )
    )


def energy_lines(rows: list[dict[str, Any]]) -> list[Line]:
    """What `warpsift compare` says of energy: a line each, with a cell for every unit."""
    lines: list[Line] = [
        ("energy, mJ", lambda r: f"{1e3 * r['energy_joules']:.3g}{_half(r, 'energy_joules')}"),
        ("  range of the prices", lambda r: " to ".join(f"{1e3 * j:.3g}" for j in r["energy_range_joules"])),
        ("  GPU / unit", lambda r: f"{1e3 * r['gpu_joules']:.3g} / {1e3 * r['unit_joules']:.2g}"),
    ]
    parts = dict.fromkeys(part for row in rows for part in grouped(row["energy_by_component"]))
    lines += [(f"  {part}", _part_cell(part)) for part in parts]
    lines += [
        ("  rests on the least certain", lambda r: f"{100 * r['least_certain']['share']:.0f} %"),
        ("", lambda r: str(r["least_certain"]["coefficient"])),
        ("energy reduction", lambda r: f"{r['energy_reduction']:.2f}{_half(r, 'energy_reduction')}"),
    ]
    if any(row["style"] == "vertex" for row in rows):
        lines.append(("  of all phases", lambda r: f"{r['energy_reduction_of_all_phases']:.2f}"))
    lines += [(f"  SMs {label} meanwhile", _mode_cell(mode)) for mode, label in IDLE_LABELS.items()]
    lines.append(("power, W", lambda r: f"{r['power_watts']:.1f}"))
    lines += [(f"  {part}", _part_power_cell(part)) for part in parts]
    return lines


def _half(row: Mapping[str, Any], name: str) -> str:
    return plus_minus(row.get("intervals", {}).get(name))


def _part_cell(part: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: f"{1e3 * grouped(row['energy_by_component']).get(part, 0.0):.3g}"


def _part_power_cell(part: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: f"{grouped(row['power_by_component']).get(part, 0.0):.2f}"


def _mode_cell(mode: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: f"{row['energy_reduction_by_gpu_idle'][mode]:.2f}"


def print_sensitivity(console: Console, comparison: Comparison) -> None:
    """Each price at half and at double: what becomes of the saving, and does the conclusion survive?"""
    for entry in comparison.entries:
        found = entry.sensitivity()
        if found is None:
            continue
        saving = found["conclusion"].saving
        console.print(Text(f"{entry.name}: energy reduction {saving:.2f} if one price is wrong by a factor of two:"))
        rows = [
            [row["coefficient"], f"{100 * row['share']:.0f} %", f"{row['halved']:.2f}", f"{row['doubled']:.2f}"]
            for row in found["coefficients"][:SHOWN_COEFFICIENTS]
        ]
        console.print(table_of("", ["price", "of the baseline", "x 0.5", "x 2"], rows))
        console.print(Text(f"  {found['conclusion'].text} (between {_bounds(found['conclusion'])})"))


def _bounds(conclusion: Conclusion) -> str:
    return f"{conclusion.lowest:.2f}, {conclusion.lowest_by}, and {conclusion.highest:.2f}, {conclusion.highest_by}"
