"""The unit as Verilog text, and as the RTLIL that Yosys reads."""

from __future__ import annotations

import functools
import tempfile
import warnings
from pathlib import Path

from warpsift.hdl import yosys
from warpsift.units.scu.scu_spec import ScuSpec


@functools.lru_cache(maxsize=4)
def to_rtlil(spec: ScuSpec, name: str = "scu") -> str:
    """The elaborated unit in Yosys's own language."""
    yosys.amaranth()
    from amaranth.back import rtlil

    from warpsift.hdl.parameters import ScuParameters
    from warpsift.hdl.scu import Scu

    with warnings.catch_warnings(), yosys.telling(f"elaborating the unit, width {spec.width}"):
        warnings.simplefilter("ignore")
        return rtlil.convert(Scu(ScuParameters.of(spec)), name=name)


def to_verilog(spec: ScuSpec, name: str = "scu") -> str:
    """The unit in Verilog, its memories as arrays."""
    yosys.pyosys()
    text = to_rtlil(spec, name)
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "scu.il", Path(folder) / "scu.v"
        source.write_text(text)
        yosys.run(
            f"read_rtlil {source}",
            "proc -norom",
            "memory_collect",
            f"write_verilog -noattr {result}",
            what="Verilog",
        )
        return result.read_text()
