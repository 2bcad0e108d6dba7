"""Synthesis: what it reads from Yosys and Liberty, the shipped table, and its place in the area of the SCU."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.places import DOCS
from warpsift.cli import application
from warpsift.costs import scaling
from warpsift.costs.cost_errors import CostNameError
from warpsift.hdl import areas, yosys
from warpsift.hdl.synthesis import MemoryMacro, cell_areas_um2, macro_mm2, memories_of, parts_of, synthesise
from warpsift.run.request import RequestError
from warpsift.units.scu import synthesis_table
from warpsift.units.scu.scu_area import Built
from warpsift.units.scu.scu_area import area as scu_area
from warpsift.units.scu.scu_spec import ScuSpec

LIBERTY = """library (x) {
cell (NAND2X1) {
  cell_footprint : "nand2x1";
  area : 24;
}
cell (DFFPOSX1) {
  area : 96.5;
  ff (q) { clocked_on : CLK; }
}
}"""
RTLIL = """module \\scu.fetch
  memory width 257 size 512 \\ring
end
module \\scu.hashing.buffer.queue
  memory width 9 size 256 \\storage
end
"""


def test_cells_and_memories_are_summed_by_part():
    modules = {
        "\\scu": {"num_cells_by_type": {"NAND2X1": 2, "scu.fetch": 1}},
        "\\scu.fetch": {"num_cells_by_type": {"NAND2X1": 1, "DFFPOSX1": 3, "$mem_v2": 1}},
        "\\scu.hashing.buffer.queue": {"num_cells_by_type": {"NAND2X1": 5}},
    }
    parts = parts_of(modules, cell_areas_um2(LIBERTY), list(memories_of(RTLIL)))
    assert (parts["control"].cells, parts["control"].library_um2) == (2, 48)
    fetch = parts["data_fetch"]
    assert (fetch.cells, fetch.flip_flops, fetch.library_um2) == (4, 3, 24 + 3 * 96.5)
    assert fetch.memories == (MemoryMacro("ring", 257, 512),)
    assert parts["filtering_grouping"].library_um2 == 120
    assert parts["filtering_grouping"].memories == (MemoryMacro("storage", 9, 256),)
    assert fetch.logic_mm2(180) == pytest.approx(fetch.library_um2 / 0.7 / 1e6)
    assert fetch.logic_mm2(32) == pytest.approx(fetch.logic_mm2(180) * 0.46 / 19)


def test_memories_grow_smoothly_through_the_end_of_the_cacti_table():
    areas = [macro_mm2(MemoryMacro("m", 256, words), 32) for words in (1, 16, 32, 33, 64, 512)]
    assert areas == sorted(areas) and areas[0] > 0


def test_the_shipped_table_feeds_the_area():
    widths = synthesis_table.library_um2()
    assert 1 in widths
    for width, parts in widths.items():
        report = scu_area(ScuSpec(width=width))
        expected = sum(parts.values()) / synthesis_table.UTILISATION / 1e6
        assert report.logic_mm2 == pytest.approx(scaling.scale_area(expected, 180, 32))
        assert report.storage_mm2 == scu_area(ScuSpec(width=width), Built(logic="estimated")).storage_mm2
    assert scu_area(ScuSpec(width=1)).logic_mm2 != scu_area(ScuSpec(width=1), Built(logic="estimated")).logic_mm2


def test_a_width_between_two_that_were_synthesised_is_interpolated(monkeypatch):
    parts = synthesis_table.library_um2()[1]
    shipped = {2: dict.fromkeys(parts, 1e6), 6: dict.fromkeys(parts, 3e6)}
    monkeypatch.setattr(synthesis_table, "library_um2", lambda: shipped)
    logic = {width: scu_area(ScuSpec(width=width)).parts["data_store"].logic_mm2 for width in (2, 3, 6)}
    assert logic[3] == pytest.approx(1.5 * logic[2]) and logic[6] == pytest.approx(3 * logic[2])
    assert synthesis_table.source_of(2) == "synthesised at this width"
    assert synthesis_table.source_of(3) == "interpolated between the synthesised widths 2 and 6"
    assert synthesis_table.source_of(8) == "gate counts, scaled to meet synthesis at width 6"


def test_a_width_beyond_synthesis_is_the_estimate_scaled_to_the_nearest(monkeypatch):
    def logic(width, kind):
        return scu_area(ScuSpec(width=width), Built(logic=kind)).parts["data_store"].logic_mm2

    one = dict.fromkeys(synthesis_table.library_um2()[1], 1e6)
    monkeypatch.setattr(synthesis_table, "library_um2", lambda: {1: one})
    assert logic(3, "synthesised") / logic(1, "synthesised") == pytest.approx(
        logic(3, "estimated") / logic(1, "estimated")
    )
    monkeypatch.setattr(synthesis_table, "library_um2", dict)
    assert logic(3, "synthesised") == logic(3, "estimated")


def test_the_documented_areas_are_the_shipped_ones():
    page = (DOCS / "hdl.md").read_text(encoding="utf-8")
    assert "\n".join(areas.table()) in page
    assert list(areas.shipped()) == [1, 2, 4, 8, 16]
    assert synthesis_table.source_of(16) == "synthesised at this width"


def test_refusals(monkeypatch):
    with pytest.raises(CostNameError, match=r"^unknown logic 'guessed'"):
        scu_area(ScuSpec(), Built(logic="guessed"))
    with pytest.raises(yosys.HdlToolError) as missing:
        synthesise(ScuSpec(width=1), Path("no.lib"))
    assert str(missing.value) == (
        "no cell library at no.lib; on Debian: apt install qflow-tech-osu018, or name one with --library"
    )
    runner = CliRunner()
    assert str(runner.invoke(application(), ["hdl", "mff", "--stats"]).exception).startswith(
        "unknown unit with hardware 'mff'"
    )
    nothing = runner.invoke(application(), ["hdl", "scu"]).exception
    assert isinstance(nothing, RequestError)
    assert str(nothing) == "nothing to do: give -o FILE for Verilog, --stats for cells and area, or both"
    monkeypatch.setattr(yosys.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(yosys.HdlToolError) as tool:
        yosys.run("help", what="help")
    assert str(tool.value) == "Verilog and synthesis need Yosys; install it with: pip install 'warpsift[hdl]'"


def test_verilog_from_the_command_line(tmp_path):
    pytest.importorskip("amaranth", reason="Amaranth is not installed (pip install 'warpsift[hdl]')")
    pytest.importorskip("pyosys", reason="Yosys is not installed (pip install 'warpsift[hdl]')")
    small = ["hash_buffer_bytes=576", "fetch_fifo_bytes=1024", "inflight_requests=4", "store_open_lines=1"]
    settings = [word for text in small for word in ("--set", f"scu.{text}")]
    path = tmp_path / "scu.v"
    done = CliRunner().invoke(application(), ["hdl", "scu", "--gpu", "tx1", *settings, "-o", str(path)])
    assert done.exit_code == 0, done.output
    assert "lines of Verilog, width 1" in done.output
    assert "warpsift: elaborating the unit, width 1, " in done.stderr
    assert "warpsift: Verilog: read_rtlil proc memory_collect write_verilog, " in done.stderr
    text = path.read_text()
    assert "module scu(" in text and "command__payload" in text and "hash_reply__payload" in text


def test_yosys_errors_are_told():
    pytest.importorskip("pyosys", reason="Yosys is not installed (pip install 'warpsift[hdl]')")
    with pytest.raises(yosys.HdlToolError, match=r"^Yosys failed: ERROR: "):
        yosys.run("read_rtlil no_such_file.il", what="reading")
