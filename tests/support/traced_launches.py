"""Kernels as they are traced and as their texts run, side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.tapes import Tape
from warpsift.algorithms import ALGORITHMS
from warpsift.graph import load_graph
from warpsift.run.observer import Observer
from warpsift.run.request import make_request
from warpsift.run.set_up import gpu_of, machine_of
from warpsift.simt import Gpu

STYLES = [(name, style) for name, algorithm in ALGORITHMS.items() for style in algorithm.styles]


def same(ours: Tape, theirs: Tape) -> bool:
    """Whether two tapes are equal; says where they are not."""
    assert [replace(info, bindings={}) for info in ours.info] == [replace(info, bindings={}) for info in theirs.info]
    assert len(ours.chunks) == len(theirs.chunks) > 0
    for mine, other in zip(ours.chunks, theirs.chunks, strict=True):
        assert mine.ctas == other.ctas and mine.programs == other.programs
        for part in ("ops", "warp_first", "transactions", "commands"):
            assert np.array_equal(getattr(mine, part), getattr(other, part)), part
    return True


def run(algorithm: str, style: str, graph_name: str, traces: bool, **choices: object) -> tuple[Tape, np.ndarray, Gpu]:
    given = {"gpu": "gtx980", "style": style, **choices} | ({"max_iterations": 3} if algorithm == "pagerank" else {})
    request = make_request(algorithm, graph_name, given)
    chosen, sink = ALGORITHMS[algorithm], Tape()
    graph, options = chosen.prepare(load_graph(graph_name), request.options)
    gpu = gpu_of(sink, machine_of(request), request, Observer())
    gpu.traces = traces
    return sink, chosen.styles[style](gpu, graph, options).values, gpu


def both(text, threads: int, *arrays: np.ndarray, unroll: int = 1, **launch: object) -> list[np.ndarray]:
    """Launch a kernel traced and by its text; its arrays afterwards, which must be equal as the streams must."""
    results, tapes = [], []
    for traces in (True, False):
        sink = Tape()
        gpu = Gpu(sink, memory_bytes=1 << 22, unroll=unroll)
        gpu.traces = traces
        held = [gpu.memory.array(f"a{k}", values) for k, values in enumerate(arrays)]
        gpu.launch(text, threads, *held, phase="p", **launch)
        assert (gpu._machine is not None) == (traces and not gpu._untraceable)
        results.append([array.host.copy() for array in held])
        tapes.append(sink)
    for mine, theirs in zip(*results, strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert same(*tapes)
    return results[0]
