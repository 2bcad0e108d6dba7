"""Area of the units: parts add up, grows with what grows, and how far from the papers' figures each reading lies."""

from itertools import pairwise

import pytest

from support.command_line import call
from warpsift.costs.cost_errors import CactiError, CostError, CostNameError
from warpsift.machines import MachineError, load_machine
from warpsift.units import unit_named


def area(unit, gpu="gtx980", settings=None, **choices):
    return unit_named(unit).area(load_machine(gpu, settings), **choices)


def scu(width=4, resources="unit", **choices):
    ports = {"noc.unit_ports": 1 + width}
    return area("scu", settings={"scu.width": width, "scu.resources": resources, **ports}, **choices)


def mff(settings=None, **choices):
    return area("mff", "gtx480", {f"mff.{key}": value for key, value in (settings or {}).items()}, **choices)


@pytest.mark.parametrize("unit", ["scu", "mff"])
def test_parts_add_up(unit):
    report = area(unit)
    assert sum(part.mm2 for part in report.parts.values()) == pytest.approx(report.total_mm2)
    assert report.storage_mm2 + report.logic_mm2 == pytest.approx(report.total_mm2)
    assert report.to_dict()["total_mm2"] == report.total_mm2


@pytest.mark.parametrize("storage", ["sram", "flip_flop", "shift_register"])
def test_scu_grows_with_width(storage):
    areas = [scu(w, storage=storage).total_mm2 for w in (1, 2, 4, 8, 16)]
    assert all(a < b for a, b in pairwise(areas))


@pytest.mark.parametrize(
    ("buffer", "larger"),
    [("vector_buffer_bytes", 10240), ("fetch_fifo_bytes", 77824), ("hash_buffer_bytes", 36864)],
)
def test_scu_grows_with_its_buffers(buffer, larger):
    assert area("scu", settings={f"scu.{buffer}": larger}).total_mm2 > area("scu").total_mm2


def test_basic_scu_is_smaller():
    assert area("scu-basic").total_mm2 < area("scu").total_mm2


@pytest.mark.parametrize(("machine", "width", "paper"), [("gtx980", 4, 13.27), ("tx1", 1, 3.65)])
def test_no_storage_that_can_be_built_so_explains_the_papers_area(machine, width, paper):
    """Shift registers meet it, but replies in any order cannot be kept in them; with multiplexers it is too large."""
    found = {s: scu(width, "lane", storage=s).against(machine) for s in ("flip_flop", "shift_register")}
    found["sram"] = scu(width, storage="sram").against(machine)
    assert {f["paper_mm2"] for f in found.values()} == {paper}
    assert found["shift_register"]["total_mm2"] == pytest.approx(paper, rel=0.05)
    assert found["flip_flop"]["total_mm2"] > 1.3 * paper
    assert found["sram"]["total_mm2"] < paper / 8
    assert "unresolved" in scu(width).note


def test_read_multiplexers_of_flip_flops():
    """499,712 bits x 1.5 gates x 1.52 um2 / 0.7: 1.63 mm2 at width 1."""
    more = scu(1, storage="flip_flop").total_mm2 - scu(1, storage="shift_register").total_mm2
    assert more == pytest.approx(1.63, abs=0.01)


def test_paper_percentages():
    assert area("scu").against("gtx980")["paper_share"] == pytest.approx(0.033, abs=0.0005)
    assert area("scu", "tx1").against("tx1")["paper_share"] == pytest.approx(0.041, abs=0.0005)


def test_mff_with_banks_and_the_papers_memory_units_is_near_its_figure():
    """CACTI's part alone, as the paper's: 32 banks of a read and a write port, 6 memory units."""
    assert mff(memory_units="paper").storage_mm2 == pytest.approx(0.83, abs=0.01)
    single = mff(memory_units="paper", registers="single")
    assert single.storage_mm2 == pytest.approx(0.67, abs=0.01)
    assert mff().storage_mm2 > mff(memory_units="paper").storage_mm2  # timing has a memory unit at each of 12 slices


@pytest.mark.parametrize(
    "field", ["issue_engines", "work_registers", "tags_per_memory_unit", "lines_per_memory_unit", "jobs_per_engine"]
)
def test_mff_grows_with_each_of_its_parts(field):
    plain = getattr(load_machine("gtx480").unit("mff"), field)
    assert mff({field: 2 * plain}).total_mm2 > mff().total_mm2


def test_the_least_unit_has_a_price_of_at_most_the_smallest_arrays():
    fields = ("issue_engines", "jobs_per_engine", "work_registers", "tags_per_memory_unit", "lines_per_memory_unit")
    least = mff(dict.fromkeys(fields, 1))
    assert 0 < least.storage_mm2 < 0.5 * mff().storage_mm2


def test_leakage_follows_area():
    small, large = (
        unit_named("scu").built(load_machine("gtx980", {"scu.width": width}))[0].leakage_w for width in (1, 8)
    )
    assert 0 < small < large


def test_refusals():
    with pytest.raises(MachineError, match=r"scu\.width = 0"):
        scu(0)
    with pytest.raises(CostNameError) as wrong:
        scu(storage="flipflop")
    assert str(wrong.value) == (
        "unknown storage 'flipflop'. Did you mean 'flip_flop'? Known: flip_flop, shift_register, sram."
    )
    with pytest.raises(CostNameError, match=r"unknown registers 'bank'\. Did you mean 'banked'"):
        mff(registers="bank")
    with pytest.raises(CactiError, match="lies outside the CACTI table"):
        mff({"work_registers": 1 << 20}, registers="single")
    assert issubclass(CactiError, CostError)


def test_area_of_a_machine_of_ones_own(tmp_path):
    mine = tmp_path / "my.toml"
    mine.write_text('extends = "gtx980"\n[sm]\ncount = 8\n')
    shown = call("area", "scu", "--gpu", str(mine)).stdout
    assert "0.13 % of a die of 398 mm2 (gtx980)" in shown
    assert "unresolved" in shown


@pytest.mark.parametrize("storage", ["sram", "flip_flop", "shift_register"])
def test_scu_with_resources_per_lane_has_every_buffer_once_per_lane(storage):
    """What timing counts per lane is silicon per lane."""
    one, four = (scu(width, "lane", storage=storage).parts for width in (1, 4))
    for buffer in ("address_generator", "data_fetch", "filtering_grouping"):
        assert four[buffer].storage_mm2 == pytest.approx(4 * one[buffer].storage_mm2)
    assert four["coalescing_units"].note == "2 of 128 requests in flight"
