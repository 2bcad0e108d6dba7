"""`warpsift hdl`: a unit as Verilog, with its cells and area."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warpsift.cli.app import CONTEXT, JsonOption, SetOption, app, console, overrides_of, print_json


@app.command(context_settings=CONTEXT)
def hdl(
    unit: Annotated[str, typer.Argument(help="scu")],
    gpu: Annotated[str, typer.Option(help="The machine whose unit is meant.")] = "gtx980",
    set_: SetOption = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write Verilog to this file.")] = None,
    stats: Annotated[bool, typer.Option(help="Synthesise; print cells and area.")] = False,
    library: Annotated[Path | None, typer.Option(help="A Liberty file of a 180 nm process; default: OSU 0.18.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the hardware of a unit as Verilog, and synthesise it. Needs: pip install 'warpsift[hdl]'.

    \b
    Examples:
      warpsift hdl scu --gpu tx1 --set scu.width=1 -o scu.v
      warpsift hdl scu --gpu tx1 --stats
    """
    from warpsift.errors import unknown
    from warpsift.hdl import yosys
    from warpsift.machines import load_machine
    from warpsift.run.request import RequestError

    if unit != "scu":
        raise RequestError(unknown("unit with hardware", unit, ["scu"]))
    if output is None and not stats:
        raise RequestError("nothing to do: give -o FILE for Verilog, --stats for cells and area, or both")
    spec = load_machine(gpu, overrides_of(set_)).unit("scu")
    yosys.amaranth()
    if output is not None:
        from warpsift.hdl.verilog import to_verilog

        if not output.parent.is_dir():
            raise RequestError(f"-o {output}: there is no directory {output.parent}")
        text = to_verilog(spec)
        try:
            output.write_text(text)
        except OSError as error:
            raise RequestError(f"-o {output}: {error.strerror}") from None
        if not as_json:
            typer.echo(f"wrote {output}: {text.count(chr(10))} lines of Verilog, width {spec.width}")
    if stats:
        _stats(spec, library, as_json)
    elif as_json:
        print_json({"verilog": str(output), "width": spec.width})


def _stats(spec: Any, library: Path | None, as_json: bool) -> None:
    from warpsift.hdl.synthesis import LIBRARY, LIBRARY_NODE_NM, synthesise
    from warpsift.report.screen_tables import table_of

    parts = synthesise(spec, library or LIBRARY)
    rows: list[dict[str, Any]] = [
        {
            "part": name,
            "cells": part.cells,
            "flip_flops": part.flip_flops,
            "memory_bytes": round(sum(m.size_bytes for m in part.memories)),
            "library_um2": round(part.library_um2),
            "logic_mm2": part.logic_mm2(),
            "memory_mm2": part.memory_mm2(),
        }
        for name, part in parts.items()
    ]
    if as_json:
        print_json({"width": spec.width, "library_node_nm": LIBRARY_NODE_NM, "node_nm": 32, "parts": rows})
        return
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key != "part"}
    cells = [
        [r["part"], r["cells"], r["flip_flops"], r["memory_bytes"], f"{r['logic_mm2']:.4f}", f"{r['memory_mm2']:.4f}"]
        for r in [*rows, {"part": "total", **total}]
    ]
    title = f"SCU of width {spec.width}: cells at {LIBRARY_NODE_NM} nm, mm2 at 32 nm"
    heads = ["part", "cells", "flip-flops", "memory, B", "logic, mm2", "memory, mm2"]
    console().print(table_of(title, heads, cells))
