"""What the SCU's paper leaves open, as settings: who has the buffers, how many entries tables have, second operands."""

import numpy as np
import pytest

import warpsift
from warpsift.hardware import LINE_BYTES
from warpsift.machines import MachineError, load_machine
from warpsift.simt import Counter, Gpu
from warpsift.units.scu import scu_operation
from warpsift.units.scu.filtering import BEST_COST_BITS, UNIQUE_BITS, entries_of
from warpsift.units.scu.grouping import GROUP_BITS
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_buffers import FetchFifo, Resources, vector_share_lines
from warpsift.units.scu.scu_operation import OrderVector
from warpsift.units.scu.scu_spec import ScuSpec
from warpsift.units.scu.scu_trace import RUN, make_runs

LANES = {"scu.resources": "lane", "noc.unit_ports": 5}


@pytest.mark.parametrize(
    ("kilobytes", "bits", "entries"),
    [
        (132, UNIQUE_BITS, 32768),
        (1024, UNIQUE_BITS, 262144),
        (192, BEST_COST_BITS, 16384),
        (1536, BEST_COST_BITS, 131072),
        (144, GROUP_BITS, 4096),
        (1228.8, GROUP_BITS, 32768),
    ],
)
def test_sizes_of_table_2_are_powers_of_two_of_tagged_entries(kilobytes, bits, entries):
    assert entries_of(int(1024 * kilobytes), 4, bits, tagged=True) == entries


def test_untagged_tables_use_all_their_bytes():
    assert entries_of(135168, 4, UNIQUE_BITS, tagged=False) == 33792


def test_resources_of_the_unit_and_of_its_lanes():
    unit, lane = Resources.of(ScuSpec()), Resources.of(ScuSpec(resources="lane"))
    assert unit.fetch_bytes == 38 * 1024 and unit.inflight_requests == 32 and unit.probes_per_cycle == 1
    assert (lane.fetch_bytes, lane.inflight_requests, lane.hash_ports) == (4 * 38 * 1024, 128, 4)
    assert lane.probes_per_cycle == 4 and lane.merge_window == 16 and lane.evicted_groups == 256
    assert Resources.of(ScuSpec(width=1)) == Resources.of(ScuSpec(width=1, resources="lane"))
    assert vector_share_lines(ScuSpec(resources="lane"), 2) == 4 * 5 * 1024 // LINE_BYTES // 2
    assert Resources.of(ScuSpec(resources="lane", inflight_requests=0, probe_limit=-1)).probe_limit == -1


def test_operands_beside_their_elements_cost_room_in_the_fifo():
    slot, beside = FetchFifo.of(ScuSpec()), FetchFifo.of(ScuSpec(second_operand="beside"))
    assert slot.ring_sectors == beside.ring_sectors
    assert beside.rows == pytest.approx(slot.rows * 6 / 8, abs=1)


def test_lanes_need_ports_and_have_limits():
    with pytest.raises(MachineError, match=r"hash_ports = 1 for each of 4 lanes: .* noc.unit_ports must be 5 or more"):
        load_machine("gtx980", {"scu.resources": "lane"})
    wide = {"scu.resources": "lane", "scu.width": 16, "noc.unit_ports": 17}
    with pytest.raises(MachineError, match="fetch_fifo_bytes = 38912 for each of 16 lanes: write 32768 at most"):
        load_machine("gtx980", wide)


def runs_of(beside, places, cost_places):
    runs = np.zeros(2 * len(places) + 1, RUN)
    zeros = np.zeros(len(places), np.int64)
    streams = (np.array([1 << 20, 0]), np.array([4, 4]), np.array([1, 0]))
    made = make_runs(
        runs, (np.array(places), zeros, zeros, zeros, np.array(cost_places)), len(places), *streams, beside
    )
    return runs[:made]


def test_an_operand_beside_asks_for_the_same_lines():
    places, costs = [0, 1, 40, 41], [5, 6, 7, 70]
    slot, beside = runs_of(False, places, costs), runs_of(True, places, costs)
    asked = {(int(r["line"]), int(r["sectors"])) for r in slot}
    together = {(int(r[f"{p}line"]), int(r[f"{p}sectors"])) for r in beside for p in ("", "second_")}
    assert asked == together
    assert slot["elements"].sum() == 2 * len(places) and beside["elements"].sum() == len(places)
    assert slot["outputs"].sum() == beside["outputs"].sum() == len(places)


def timed(algorithm, **overrides):
    changes = {key.replace("__", "."): value for key, value in overrides.items()}
    return warpsift.simulate(algorithm, "kron-9", gpu="gtx980", unit="scu", overrides=changes)


@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_lanes_make_the_unit_faster_and_change_no_answer(algorithm):
    one, four = timed(algorithm), timed(algorithm, **LANES)
    assert one.check == four.check == "pass"
    assert np.array_equal(one.values, four.values)
    assert four.unit_seconds < one.unit_seconds
    assert four.unit_floor_seconds <= four.unit_seconds


def test_operands_beside_take_no_slots():
    slot, beside = timed("sssp"), timed("sssp", **{"scu.second_operand": "beside"})
    assert slot.check == beside.check == "pass"
    addresses = [run.timing["counters"]["scu_addresses"] for run in (slot, beside)]
    assert addresses[1] < addresses[0]
    assert beside.timing["counters"]["scu_elements"] == slot.timing["counters"]["scu_elements"]
    assert beside.unit_seconds < slot.unit_seconds


@pytest.mark.parametrize("requests", [1, 2])
def test_operands_beside_need_no_more_than_one_request_in_flight(requests):
    small = {"scu.second_operand": "beside", "scu.inflight_requests": requests, "scu.fetch_fifo_bytes": 1024}
    assert timed("sssp", **small).check == "pass"


def test_tagged_tables_and_filters_that_live_change_no_answer():
    assert timed("sssp", **LANES, **{"scu.table_entries": "tagged", "scu.other_life": "persistent"}).check == "pass"


def test_every_open_line_is_written_at_the_end(monkeypatch):
    """16 lanes gather 64 lines. The last piece of an operation, one element, finds 40 of them open."""
    monkeypatch.setattr(scu_operation, "CHUNK_ELEMENTS", 40)
    gpu = Gpu(Counter(), memory_bytes=1 << 24)
    scu = Scu(gpu, ScuSpec(width=16, resources="lane", fetch_fifo_bytes=16 << 10))
    nodes = gpu.memory.array("nodes", np.arange(41, dtype=np.int32))
    places = OrderVector(gpu.memory.array("places", np.arange(41, dtype=np.int32) * 32), 41)
    out, _ = scu.data_compaction(nodes, None, group=places, out=gpu.memory.empty("out", 41 * 32, np.int32))
    assert out.host[::32].tolist() == list(range(41))
    assert gpu.sink.operations[-1].counters["scu_write_lines"] == 41
