"""`warpsift costs` and `warpsift area`: prices with their sources, and square millimetres."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from warpsift.cli.app import CONTEXT, JsonOption, SetOption, app, console, overrides_of, print_json


class Storage(StrEnum):
    sram = "sram"
    flip_flop = "flip_flop"


costs = typer.Typer(help="Energy prices and where they come from.", no_args_is_help=True)
app.add_typer(costs, name="costs")


@costs.command(context_settings=CONTEXT)
def show(
    gpu: Annotated[str, typer.Option(help="gtx980, tx1, gtx480, ...")] = "gtx980",
    unit: Annotated[str | None, typer.Option(help="Also the prices of a unit: scu or mff.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print every coefficient with its range, derivation and source.

    \b
    Example:
      warpsift costs show --gpu gtx980 --unit scu
    """
    from warpsift.costs.show import rows, text

    if as_json:
        print_json(rows(gpu, unit))
    else:
        typer.echo(text(gpu, unit))


@app.command(context_settings=CONTEXT)
def area(
    unit: Annotated[str, typer.Argument(help="scu or mff")],
    gpu: Annotated[str, typer.Option(help="The machine whose unit and die are meant.")] = "gtx980",
    set_: SetOption = None,
    storage: Annotated[
        Storage, typer.Option(help="The SCU's buffers: SRAM, or the flip-flops that the paper's figure implies.")
    ] = Storage.sram,
    as_json: JsonOption = False,
) -> None:
    """Area of a unit, part by part, beside the paper's figure and the die.

    \b
    Examples:
      warpsift area scu --gpu gtx980 --set scu.width=8
      warpsift area scu --gpu tx1 --storage flip_flop
      warpsift area mff --gpu gtx480
    """
    from warpsift.costs.area import MffHardware, ScuHardware, mff_area, scu_area
    from warpsift.machines import load_machine
    from warpsift.report.tables import table_of
    from warpsift.request import RequestError, unknown

    machine = load_machine(gpu, overrides_of(set_))
    if unit == "scu":
        report = scu_area(ScuHardware.of(machine.scu, storage=storage.value))
    elif unit == "mff":
        report = mff_area(MffHardware.of(machine.mff, machine.l2.slices))
    else:
        raise RequestError(unknown("unit", unit, ["scu", "mff"]))
    beside = report.against(machine.name)
    if as_json:
        print_json({**report.to_dict(), "against": beside})
        return
    parts = [[name, f"{p.storage_mm2:.4f}", f"{p.logic_mm2:.4f}", f"{p.mm2:.4f}"] for name, p in report.parts.items()]
    parts.append(["total", f"{report.storage_mm2:.4f}", f"{report.logic_mm2:.4f}", f"{report.total_mm2:.4f}"])
    title = f"{unit} of {machine.name}, mm2 at {report.node_nm} nm"
    console().print(table_of(title, ["part", "storage", "logic", "together"], parts))
    if unit == "scu":
        from warpsift.costs.synthesis_table import source_of

        typer.echo(f"logic: {source_of(machine.scu.width)}; storage: CACTI (docs/area.md, docs/hdl.md)")
    paper = f"; the paper says {beside['paper_mm2']} mm2" if beside["paper_mm2"] else ""
    share = 100 * beside["share_as_paper"]
    typer.echo(f"{share:.2f} % of a die of {beside['die_mm2']:g} mm2{paper} (docs/area.md explains the distance)")
