"""Area of the units: parts add up, grows with what grows, near the papers where their method is known."""

from dataclasses import replace
from itertools import pairwise

import pytest

from warpsift.costs.area import MffHardware, ScuHardware, mff_area, scu_area, unit_instance
from warpsift.costs.cost_errors import CactiError, CostError, CostNameError
from warpsift.units.mff.mff_spec import Mff
from warpsift.units.scu.scu_spec import ScuSpec


@pytest.mark.parametrize("report", [scu_area(ScuHardware()), mff_area(MffHardware())], ids=["scu", "mff"])
def test_parts_add_up(report):
    assert sum(part.mm2 for part in report.parts.values()) == pytest.approx(report.total_mm2)
    assert report.storage_mm2 + report.logic_mm2 == pytest.approx(report.total_mm2)
    assert report.to_dict()["total_mm2"] == report.total_mm2


@pytest.mark.parametrize("storage", ["sram", "flip_flop"])
def test_scu_grows_with_width(storage):
    areas = [scu_area(ScuHardware(width=w, storage=storage)).total_mm2 for w in (1, 2, 4, 8, 16)]
    assert all(a < b for a, b in pairwise(areas))


@pytest.mark.parametrize(
    "buffer", ["vector_buffer_bytes", "fetch_fifo_bytes", "hash_buffer_bytes", "inflight_requests"]
)
def test_scu_grows_with_its_buffers(buffer):
    plain = ScuHardware()
    larger = replace(plain, **{buffer: 2 * getattr(plain, buffer)})
    assert scu_area(larger).total_mm2 > scu_area(plain).total_mm2


def test_hardware_of_the_machine_files_sections():
    assert ScuHardware.of(ScuSpec()) == ScuHardware()
    assert ScuHardware.of(ScuSpec(width=8), storage="flip_flop") == ScuHardware(width=8, storage="flip_flop")
    assert ScuHardware.of(ScuSpec(inflight_requests=0)).inflight_requests == 512  # sectors of the FIFO's ring
    assert MffHardware.of(Mff(), memory_units=6) == MffHardware()
    assert MffHardware.of(Mff(tags_per_memory_unit=128), memory_units=12).tags_per_memory_unit == 128


def test_basic_scu_is_smaller():
    assert scu_area(ScuHardware(enhanced=False)).total_mm2 < scu_area(ScuHardware()).total_mm2


@pytest.mark.parametrize(("machine", "width", "paper"), [("gtx980", 4, 13.27), ("tx1", 1, 3.65)])
def test_scu_in_flip_flops_per_lane_is_the_papers_area(machine, width, paper):
    """499,712 bits of buffer x 6.6 um2 per flip-flop x width, plus logic: within 10 % of both figures."""
    found = scu_area(ScuHardware(width=width, storage="flip_flop")).against(machine)
    assert found["paper_mm2"] == paper
    assert found["total_mm2"] == pytest.approx(paper, rel=0.1)


def test_scu_in_sram_is_an_order_of_magnitude_smaller():
    assert scu_area(ScuHardware()).total_mm2 < 13.27 / 10


def test_paper_percentages():
    assert scu_area(ScuHardware()).against("gtx980")["paper_share"] == pytest.approx(0.033, abs=0.0005)
    assert scu_area(ScuHardware()).against("tx1")["paper_share"] == pytest.approx(0.041, abs=0.0005)


def test_mff_is_near_the_papers_087_mm2():
    found = mff_area(MffHardware()).against("gtx480")
    assert found["total_mm2"] == pytest.approx(0.87, rel=0.25)


@pytest.mark.parametrize(
    "field", ["issue_engines", "work_registers", "memory_units", "tags_per_memory_unit", "lines_per_memory_unit"]
)
def test_mff_grows_with_each_of_its_parts(field):
    plain = MffHardware()
    larger = replace(plain, **{field: 2 * getattr(plain, field)})
    assert mff_area(larger).total_mm2 > mff_area(plain).total_mm2


def test_the_least_unit_has_a_price_of_at_most_the_smallest_arrays():
    fields = ("issue_engines", "jobs_per_engine", "work_registers", "tags_per_memory_unit", "lines_per_memory_unit")
    least = mff_area(MffHardware(**dict.fromkeys(fields, 1)))
    assert 0 < least.storage_mm2 < 0.5 * mff_area(MffHardware()).storage_mm2


def test_leakage_follows_area():
    small, large = (unit_instance(ScuHardware(width=w)) for w in (1, 8))
    assert 0 < small.leakage_w < large.leakage_w
    assert unit_instance(ScuHardware(storage="flip_flop")).leakage_w > unit_instance(ScuHardware()).leakage_w


def test_refusals():
    with pytest.raises(CostError) as error:
        scu_area(ScuHardware(width=0))
    assert str(error.value) == "width = 0 of a ScuHardware must be at least 1."
    with pytest.raises(CostNameError) as wrong:
        scu_area(ScuHardware(storage="flipflop"))
    assert str(wrong.value) == "unknown storage 'flipflop'. Did you mean 'flip_flop'? Known: flip_flop, sram."
    with pytest.raises(CactiError, match="lies outside the CACTI table"):
        mff_area(MffHardware(work_registers=1 << 20))
