"""The timing wheel against a binary heap."""

import heapq

import numpy as np
import pytest

from warpsift.engine.core import wheel
from warpsift.engine.core.arena import FOREVER, Arena
from warpsift.engine.core.jit import JIT_ENABLED, from_python

push = from_python(wheel.wheel_push)
pop = from_python(wheel.wheel_pop)
following_event = from_python(wheel.wheel_next)


def make():
    arena = Arena()
    S = arena.root
    wheel.allocate(arena)
    return S, arena


def test_wheel_delivers_in_time_and_first_in_first_out_like_a_heap():
    rng = np.random.default_rng(7)
    S, arena = make()
    heap, serial = [], 0
    for _ in range(3000):
        for _ in range(rng.integers(0, 3)):
            when = int(S.now) + 1 + int(rng.choice([rng.integers(0, 5), rng.integers(0, 300), rng.integers(0, 20000)]))
            push(S, when, 1, serial, 0)
            heapq.heappush(heap, (when, serial))
            serial += 1
        following = int(following_event(S))
        expected = heap[0][0] if heap else FOREVER
        assert following <= expected  # a later lap may be a false alarm, a missed event never
        if following >= FOREVER:
            S.now += 1
            continue
        S.now = following
        while (index := int(pop(S))) >= 0:
            assert (int(S.now), int(arena.arrays["wheel.events"][index]["a"])) == heapq.heappop(heap)
        assert not heap or heap[0][0] > S.now


def test_an_event_in_the_past_comes_in_the_next_cycle():
    S, _ = make()
    S.now = 100
    push(S, 5, 1, 2, 3)
    assert following_event(S) == 101


def test_a_full_pool_is_an_error_not_a_loss():
    S, _ = make()
    for index in range(wheel.EVENTS + 1):
        push(S, 10, 1, index, 0)
    assert S.error == wheel.ERROR_EVENTS_EXHAUSTED


def test_a_kernel_called_from_python_says_what_to_write():
    if JIT_ENABLED:
        with pytest.raises(TypeError, match=r"wheel_next is called by other kernels; from Python write from_python"):
            wheel.wheel_next(make()[0])
