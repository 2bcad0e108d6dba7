"""`warpsift costs` and `warpsift area`: prices with their sources, and square millimetres."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsift.cli.app import CONTEXT, JsonOption, SetOption, app, console, overrides_of, print_json

if TYPE_CHECKING:
    from warpsift.costs.area import AreaReport
    from warpsift.costs.coefficients import CostTable
    from warpsift.machines import Machine

costs = typer.Typer(help="Energy prices and where they come from.", no_args_is_help=True)
app.add_typer(costs, name="costs")


@costs.command(context_settings=CONTEXT)
def show(
    gpu: Annotated[str, typer.Option(help="A machine, its file, or a table without one (v100).")] = "gtx980",
    set_: SetOption = None,
    unit: Annotated[str | None, typer.Option(help="Also the prices of a unit.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print every coefficient with its range, derivation and source.

    \b
    Examples:
      warpsift costs show --gpu gtx980 --unit scu
      warpsift costs show --gpu gtx980 --set sm.count=46
    """
    from warpsift.costs.show import rows, text
    from warpsift.units import unit_named

    own, notes = _prices(gpu, overrides_of(set_))
    tables = [own, *([unit_named(unit).prices()] if unit else [])]
    if as_json:
        print_json(rows(*tables))
        return
    typer.echo(text(*tables))
    for note in notes:
        typer.echo(f"note: {note}")


def _prices(gpu: str, overrides: dict[str, Any]) -> tuple[CostTable, tuple[str, ...]]:
    """The prices of a machine as it is set up, or a table that no machine has (v100)."""
    from warpsift.costs.coefficients import gpu_table, names
    from warpsift.costs.design import Design, scaled
    from warpsift.machines import load_machine, machine_names
    from warpsift.run.run_energy import inherited_prices, prices_of

    if gpu in names() and gpu not in machine_names():
        return gpu_table(gpu), ()
    machine = load_machine(gpu, overrides)
    table, notes = scaled(prices_of(machine), Design.of(machine))
    return table, (*inherited_prices(machine), *notes)


def _choices(name: str, settings: list[str] | None) -> dict[str, str]:
    """--built KEY=VALUE, checked against what the unit offers."""
    from warpsift.errors import unknown
    from warpsift.run.request import RequestError
    from warpsift.units import unit_named

    offered = unit_named(name).area_choices
    found = {}
    for setting in settings or []:
        key, _, value = setting.partition("=")
        if key not in offered:
            raise RequestError(unknown(f"--built key of unit '{name}'", key, list(offered)))
        if value not in offered[key]:
            raise RequestError(unknown(f"value of --built {key}", value, list(offered[key])))
        found[key] = value
    return found


@app.command(context_settings=CONTEXT)
def area(
    unit: Annotated[str, typer.Argument(help="A unit; see 'warpsift list units'.")],
    gpu: Annotated[str, typer.Option(help="The machine whose unit and die are meant.")] = "gtx980",
    set_: SetOption = None,
    built: Annotated[
        list[str] | None,
        typer.Option(help="How it is built: storage=sram, flip_flop or shift_register for the SCU; again for more."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Area of a unit, part by part, beside the paper's figure and the die.

    \b
    Examples:
      warpsift area scu --gpu gtx980 --set scu.width=8
      warpsift area scu --gpu tx1 --built storage=flip_flop
      warpsift area mff --gpu gtx480 --built memory_units=paper
      warpsift area scu --gpu my.toml
    """
    from warpsift.machines import load_machine
    from warpsift.report.screen_tables import table_of
    from warpsift.units import unit_named

    machine = load_machine(gpu, overrides_of(set_))
    report = unit_named(unit).area(machine, **_choices(unit, built))
    beside = _beside(report, machine)
    if as_json:
        print_json({**report.to_dict(), "against": beside})
        return
    parts = [[name, f"{p.storage_mm2:.4f}", f"{p.logic_mm2:.4f}", f"{p.mm2:.4f}"] for name, p in report.parts.items()]
    parts.append(["total", f"{report.storage_mm2:.4f}", f"{report.logic_mm2:.4f}", f"{report.total_mm2:.4f}"])
    title = f"{unit} of {machine.name}, mm2 at {report.node_nm} nm"
    console().print(table_of(title, ["part", "storage", "logic", "together"], parts))
    if report.note:
        typer.echo(report.note)
    if "share_as_paper" not in beside:
        typer.echo(f"share of the die: {beside['missing']}")
        return
    paper = f"; the paper says {beside['paper_mm2']} mm2" if beside["paper_mm2"] else ""
    share = 100 * beside["share_as_paper"]
    die = f"a die of {beside['die_mm2']:g} mm2" + (
        f" ({beside['machine']})" if machine.name != beside["machine"] else ""
    )
    typer.echo(f"{share:.2f} % of {die}{paper} (docs/area.md)")


def _beside(report: AreaReport, machine: Machine) -> dict[str, Any]:
    """Shares of the die of the machine, or of the one that it extends; in words what is missing for that."""
    from warpsift.costs.cost_errors import CostNameError
    from warpsift.run.run_energy import prices_of

    try:
        return report.against(prices_of(machine))
    except CostNameError as error:
        return {"missing": str(error), "paper_mm2": None}
