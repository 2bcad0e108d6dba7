"""`warpsift costs` and `warpsift area`: prices with their sources, and square millimetres."""

from __future__ import annotations

from typing import Annotated

import typer

from warpsift.cli.app import CONTEXT, JsonOption, SetOption, app, console, overrides_of, print_json

costs = typer.Typer(help="Energy prices and where they come from.", no_args_is_help=True)
app.add_typer(costs, name="costs")


@costs.command(context_settings=CONTEXT)
def show(
    gpu: Annotated[str, typer.Option(help="gtx980, tx1, gtx480, ...")] = "gtx980",
    unit: Annotated[str | None, typer.Option(help="Also the prices of a unit.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print every coefficient with its range, derivation and source.

    \b
    Example:
      warpsift costs show --gpu gtx980 --unit scu
    """
    from warpsift.costs.show import rows, text
    from warpsift.units import unit_named

    tables = [unit_named(unit).prices()] if unit else []
    if as_json:
        print_json(rows(gpu, *tables))
    else:
        typer.echo(text(gpu, *tables))


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
        list[str] | None, typer.Option(help="How it is built: storage=flip_flop for the SCU's buffers; again for more.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Area of a unit, part by part, beside the paper's figure and the die.

    \b
    Examples:
      warpsift area scu --gpu gtx980 --set scu.width=8
      warpsift area scu --gpu tx1 --built storage=flip_flop
      warpsift area mff --gpu gtx480
    """
    from warpsift.machines import load_machine
    from warpsift.report.screen_tables import table_of
    from warpsift.units import unit_named

    machine = load_machine(gpu, overrides_of(set_))
    report = unit_named(unit).area(machine, **_choices(unit, built))
    beside = report.against(machine.name)
    if as_json:
        print_json({**report.to_dict(), "against": beside})
        return
    parts = [[name, f"{p.storage_mm2:.4f}", f"{p.logic_mm2:.4f}", f"{p.mm2:.4f}"] for name, p in report.parts.items()]
    parts.append(["total", f"{report.storage_mm2:.4f}", f"{report.logic_mm2:.4f}", f"{report.total_mm2:.4f}"])
    title = f"{unit} of {machine.name}, mm2 at {report.node_nm} nm"
    console().print(table_of(title, ["part", "storage", "logic", "together"], parts))
    if report.note:
        typer.echo(report.note)
    paper = f"; the paper says {beside['paper_mm2']} mm2" if beside["paper_mm2"] else ""
    share = 100 * beside["share_as_paper"]
    typer.echo(f"{share:.2f} % of a die of {beside['die_mm2']:g} mm2{paper} (docs/area.md explains the distance)")
