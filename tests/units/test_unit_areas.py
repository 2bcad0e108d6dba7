"""Area of the units: parts add up, grows with what grows, near the papers where their method is known."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from warpsift.costs.cost_errors import CactiError, CostError, CostNameError
from warpsift.machines import load_machine
from warpsift.units import unit_named
from warpsift.units.mff.mff_area import area as mff_area
from warpsift.units.mff.mff_spec import MffSpec
from warpsift.units.scu.scu_area import Built
from warpsift.units.scu.scu_area import area as scu_area
from warpsift.units.scu.scu_spec import ScuSpec

PAPER_MEMORY_UNITS = 6


@pytest.mark.parametrize("report", [scu_area(ScuSpec()), mff_area(MffSpec(), PAPER_MEMORY_UNITS)], ids=["scu", "mff"])
def test_parts_add_up(report):
    assert sum(part.mm2 for part in report.parts.values()) == pytest.approx(report.total_mm2)
    assert report.storage_mm2 + report.logic_mm2 == pytest.approx(report.total_mm2)
    assert report.to_dict()["total_mm2"] == report.total_mm2


@pytest.mark.parametrize("storage", ["sram", "flip_flop"])
def test_scu_grows_with_width(storage):
    areas = [scu_area(ScuSpec(width=w), Built(storage=storage)).total_mm2 for w in (1, 2, 4, 8, 16)]
    assert all(a < b for a, b in pairwise(areas))


@pytest.mark.parametrize(
    "buffer", ["vector_buffer_bytes", "fetch_fifo_bytes", "hash_buffer_bytes", "inflight_requests"]
)
def test_scu_grows_with_its_buffers(buffer):
    plain = ScuSpec()
    larger = replace(plain, **{buffer: 2 * getattr(plain, buffer)})
    assert scu_area(larger).total_mm2 > scu_area(plain).total_mm2


def test_hardware_of_the_machine_files_sections():
    """Area reads the same fields of the same spec as timing."""
    machine = load_machine("gtx980", {"scu.width": 8, "mff.tags_per_memory_unit": 128})
    scu, mff = unit_named("scu"), unit_named("mff")
    flip_flops = scu.area(machine, storage="flip_flop")
    assert flip_flops == scu_area(ScuSpec(width=8), Built(storage="flip_flop")) != scu.area(machine)
    assert unit_named("scu-basic").area(machine) == scu_area(ScuSpec(width=8), Built(enhanced=False))
    assert mff.area(machine) == mff_area(MffSpec(tags_per_memory_unit=128), machine.l2.slices)
    open_ended = scu_area(ScuSpec(inflight_requests=0)).parts["coalescing_units"]
    assert open_ended.note == "2 of 512 requests in flight"  # sectors of the FIFO's ring


def test_basic_scu_is_smaller():
    assert scu_area(ScuSpec(), Built(enhanced=False)).total_mm2 < scu_area(ScuSpec()).total_mm2


@pytest.mark.parametrize(("machine", "width", "paper"), [("gtx980", 4, 13.27), ("tx1", 1, 3.65)])
def test_scu_in_flip_flops_per_lane_is_the_papers_area(machine, width, paper):
    """499,712 bits of buffer x 6.6 um2 per flip-flop x width, plus logic: within 10 % of both figures."""
    found = scu_area(ScuSpec(width=width), Built(storage="flip_flop")).against(machine)
    assert found["paper_mm2"] == paper
    assert found["total_mm2"] == pytest.approx(paper, rel=0.1)


def test_scu_in_sram_is_an_order_of_magnitude_smaller():
    assert scu_area(ScuSpec()).total_mm2 < 13.27 / 10


def test_paper_percentages():
    assert scu_area(ScuSpec()).against("gtx980")["paper_share"] == pytest.approx(0.033, abs=0.0005)
    assert scu_area(ScuSpec()).against("tx1")["paper_share"] == pytest.approx(0.041, abs=0.0005)


def test_mff_is_near_the_papers_087_mm2():
    found = mff_area(MffSpec(), PAPER_MEMORY_UNITS).against("gtx480")
    assert found["total_mm2"] == pytest.approx(0.87, rel=0.25)


@pytest.mark.parametrize(
    "field", ["issue_engines", "jobs_per_engine", "work_registers", "tags_per_memory_unit", "lines_per_memory_unit"]
)
def test_mff_grows_with_each_of_its_parts(field):
    plain = MffSpec()
    larger = replace(plain, **{field: 2 * getattr(plain, field)})
    total_mm2 = mff_area(plain, PAPER_MEMORY_UNITS).total_mm2
    assert mff_area(larger, PAPER_MEMORY_UNITS).total_mm2 > total_mm2
    assert mff_area(plain, 2 * PAPER_MEMORY_UNITS).total_mm2 > total_mm2


def test_the_least_unit_has_a_price_of_at_most_the_smallest_arrays():
    fields = ("issue_engines", "jobs_per_engine", "work_registers", "tags_per_memory_unit", "lines_per_memory_unit")
    least = mff_area(MffSpec(**dict.fromkeys(fields, 1)), PAPER_MEMORY_UNITS)
    assert 0 < least.storage_mm2 < 0.5 * mff_area(MffSpec(), PAPER_MEMORY_UNITS).storage_mm2


def test_leakage_follows_area():
    small, large = (unit_named("scu").built(load_machine("gtx980", {"scu.width": w}))[0] for w in (1, 8))
    assert 0 < small.leakage_w < large.leakage_w
    arrays, flip_flops = (scu_area(ScuSpec(), Built(storage=kind)) for kind in ("sram", "flip_flop"))
    leaks = [sum(part.leakage_w for part in report.parts.values()) for report in (arrays, flip_flops)]
    assert 0 < leaks[0] < leaks[1]


def test_refusals():
    with pytest.raises(CostError) as error:
        scu_area(ScuSpec(width=0))
    assert str(error.value) == "scu.width = 0 must lie between 1 and 16 elements per cycle."
    with pytest.raises(CostError) as none:
        mff_area(MffSpec(work_registers=0), PAPER_MEMORY_UNITS)
    assert str(none.value) == "mff.work_registers = 0 must be positive."
    with pytest.raises(CostNameError) as wrong:
        scu_area(ScuSpec(), Built(storage="flipflop"))
    assert str(wrong.value) == "unknown storage 'flipflop'. Did you mean 'flip_flop'? Known: flip_flop, sram."
    with pytest.raises(CactiError, match="lies outside the CACTI table"):
        mff_area(MffSpec(work_registers=1 << 20), PAPER_MEMORY_UNITS)
