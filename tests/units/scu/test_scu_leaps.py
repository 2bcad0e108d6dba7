"""Long operations of the SCU in sampled runs: stretches are timed, pieces between them left out, the rest closes up."""

from __future__ import annotations

import numpy as np
import pytest

import warpsift
from warpsift.engine.leap import sampled_engine
from warpsift.engine.leap.leaping_operation import LeapingOperation
from warpsift.units.scu import scu_operation
from warpsift.units.scu.scu_holes import Holes
from warpsift.units.scu.scu_trace import BY_FETCHED, BY_INPUT, BY_PROBED, PROBE, RUN, WRITE, ScuChunk, Vector

PIECE = 1024  # elements, so that small graphs have long operations


@pytest.fixture
def leaps(monkeypatch):
    """Small pieces; gives the work of all leaps."""
    found = []
    leap = LeapingOperation._leap

    def watched(self, pieces):
        made = leap(self, pieces)
        if made is not None:
            found.append(made.work)
        return made

    monkeypatch.setattr(scu_operation, "CHUNK_ELEMENTS", PIECE)
    monkeypatch.setattr(sampled_engine, "HELD_PIECES", 8)
    monkeypatch.setattr(LeapingOperation, "_leap", watched)
    return found


@pytest.mark.parametrize(
    ("algorithm", "unit", "gpu", "reading"),
    [
        ("bfs", "scu", "tx1", "hardware"),
        ("bfs", "scu-basic", "gtx980", "authors"),  # a write that misses fetches its line
        ("sssp", "scu", "gtx980", "hardware"),
        ("pagerank", "scu-basic", "tx1", "authors"),
    ],
)
def test_a_sampled_run_is_close_to_the_full_one(leaps, algorithm, unit, gpu, reading):
    asked = {"gpu": gpu, "unit": unit, "reading": reading}
    asked |= {"max_iterations": 1} if algorithm == "pagerank" else {}
    full = warpsift.simulate(algorithm, "kron-12", **asked)
    assert not leaps
    sampled = warpsift.simulate(algorithm, "kron-12", sample=20, **asked)
    assert len(leaps) > 3 and all(work[1] > 0 and work[2] > 0 for work in leaps)
    assert sampled.check == "pass" and np.array_equal(sampled.values, full.values)
    assert sampled.cycles == pytest.approx(full.cycles, rel=0.08)
    for name in ("dram_reads", "scu_read_requests", "scu_vector_requests", "scu_cycles", "scu_operations"):
        assert sampled.timing["counters"][name] == pytest.approx(full.timing["counters"][name], rel=0.2), name


def piece(first: int, elements: int = 4) -> ScuChunk:
    """Elements first, first + 1, ...: each an input of its own, a probe of the set that the element before read."""
    numbers = np.arange(first, first + elements)
    runs, writes, probes = (np.zeros(elements, dtype) for dtype in (RUN, WRITE, PROBE))
    runs["input"] = runs["output"] = numbers
    runs["outputs"] = 1
    writes["after"] = numbers + 1
    probes["previous"] = numbers - 1
    return ScuChunk(runs, writes, probes, elements, elements)


@pytest.mark.parametrize("follows", [BY_FETCHED, BY_PROBED])
def test_what_is_behind_a_hole_is_numbered_as_if_nothing_had_been_there(follows):
    holes = Holes(follows, [])
    closed = [holes.close(piece(0))]
    holes.leave_out(piece(4))
    holes.leave_out(piece(8))
    closed += [holes.close(piece(12)), holes.close(piece(16))]
    for column in ("input", "output"):
        assert np.concatenate([each.runs[column] for each in closed]).tolist() == list(range(12))
    assert np.concatenate([each.writes["after"] for each in closed]).tolist() == list(range(1, 13))
    previous = np.concatenate([each.probes["previous"] for each in closed]).tolist()
    assert previous == [-1, 0, 1, 2, -1, 4, 5, 6, 7, 8, 9, 10]  # the first behind the hole finds no set in the buffer


def test_vectors_are_touched_at_their_end_for_what_was_left_out():
    """32 entries of 32 bits in a line: eight pieces of four inputs pass one."""
    vector = Vector(address=4096, bits=32, by=BY_INPUT, length=320)
    holes = Holes(BY_FETCHED, [vector])
    holes.close(piece(0))
    touched = [line for k in range(1, 17) for line in holes.leave_out(piece(4 * k)).tolist()]
    last = 4096 // 128 + vector.lines - 1
    assert touched == [last, last - 1]
