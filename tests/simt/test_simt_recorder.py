"""The recorder's log against a recorder that writes every lane down at once: equal streams, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.naive_recorder import NaiveRecorder
from support.tapes import Tape
from warpsift.algorithms import ALGORITHMS
from warpsift.graph import load_graph
from warpsift.run.observer import Observer
from warpsift.run.request import make_request
from warpsift.run.set_up import gpu_of, machine_of
from warpsift.simt import elements, recorder
from warpsift.simt.memory import DeviceMemoryError
from warpsift.units import resolve

STYLES = [(name, style, "none") for name, algorithm in ALGORITHMS.items() for style in algorithm.styles]
UNITS = [(name, "vertex", "mff") for name in ("bfs", "sssp", "pagerank", "wcc")]


def stream(algorithm: str, style: str, unit: str, graph_name: str, oracle: bool) -> tuple[Tape, np.ndarray]:
    choices = {"gpu": "gtx480", "style": style, "unit": unit, "visibility_ctas": 1}
    request = make_request(algorithm, graph_name, choices | ({"max_iterations": 3} if algorithm == "pagerank" else {}))
    chosen, machine, sink = ALGORITHMS[algorithm], machine_of(request), Tape()
    graph, options = chosen.prepare(load_graph(graph_name), request.options)
    driver = chosen.styles[style] if unit == "none" else resolve(unit).driver(algorithm, machine)
    gpu = gpu_of(sink, machine, request, Observer())
    if oracle:
        gpu._recorder = NaiveRecorder()
    return sink, driver(gpu, graph, options).values


@pytest.mark.parametrize(("algorithm", "style", "unit"), STYLES + UNITS)
@pytest.mark.parametrize("graph", ["grid-5x7", "kron-6"])
def test_streams_are_those_of_the_naive_recorder(algorithm, style, unit, graph, monkeypatch):
    monkeypatch.setattr(recorder, "LOGGED_ELEMENTS", 700)  # so that the log is worked off within a wave
    ours, answer = stream(algorithm, style, unit, graph, oracle=False)
    naive, expected = stream(algorithm, style, unit, graph, oracle=True)
    assert [replace(info, bindings={}) for info in ours.info] == [replace(info, bindings={}) for info in naive.info]
    assert np.array_equal(answer, expected)
    assert len(ours.chunks) == len(naive.chunks) > 0
    for mine, theirs in zip(ours.chunks, naive.chunks, strict=True):
        assert mine.ctas == theirs.ctas and mine.programs == theirs.programs
        for part in ("ops", "warp_first", "transactions", "commands"):
            assert np.array_equal(getattr(mine, part), getattr(theirs, part)), part


numbers = st.lists(st.integers(-2, 12), min_size=0, max_size=70)


@settings(max_examples=80, deadline=None)
@given(numbers, st.integers(-1, 2), st.sampled_from([np.int32, np.int64]), st.sampled_from([np.uint8, np.uint32]))
def test_elements_move_as_in_numpy_or_not_at_all(index, offset, kind, word):
    element = np.array(index, kind)
    memory = np.arange(10).astype(word)
    values = np.arange(100, 100 + element.size).astype(word)
    wanted = element.astype(np.int64) + offset
    inside = ((wanted >= 0) & (wanted < memory.size)).all()
    found = elements.gather(memory, element, offset)
    if inside:
        assert np.array_equal(found, memory[wanted])
    else:
        assert found.size < element.size
    expected = memory.copy()
    if inside:
        expected[wanted] = values
    assert (elements.scatter(memory, element, offset, values) == element.size) == inside
    assert np.array_equal(memory, expected)


def test_a_failed_kernel_leaves_nothing_behind():
    from warpsift.simt import Gpu, kernel

    @kernel
    def fails(t, x):
        t.store(x, t.id, 1)
        t.load(x, t.id, offset=1)

    @kernel
    def works(t, x):
        t.store(x, t.id, 2)

    sinks = [Tape(), Tape()]
    for sink, fail in zip(sinks, (True, False), strict=True):
        gpu = Gpu(sink, memory_bytes=1 << 20)
        x = gpu.memory.empty("x", 64)
        if fail:
            with pytest.raises(DeviceMemoryError, match="index 64 is outside of array 'x'"):
                gpu.launch(fails, 64, x, phase="p")
        gpu.launch(works, 64, x, phase="p")
    ours, clean = (sink.chunks[0] for sink in sinks)
    assert np.array_equal(ours.transactions, clean.transactions)
    assert np.array_equal(ours.ops["kind"], clean.ops["kind"])
