"""Registers limit how many CTAs an SM holds, where a launch says how many its threads need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.engine_streams import alu, chunk, launch
from warpsift.engine import Engine
from warpsift.engine.engine import EngineError
from warpsift.machines import load_machine

CTAS = 8  # of two warps, on one SM with room for all of them
CHAIN = 100


def cycles(registers_per_thread: int, registers: int) -> int:
    engine = Engine(load_machine("gtx980", {"sm.count": 1, "sm.registers": registers}), checks=True)
    info = replace(launch(CTAS, warps_per_cta=2), registers_per_thread=registers_per_thread)
    engine.begin(info)
    engine.chunk(chunk([[alu(CHAIN, CHAIN)]] * (2 * CTAS), CTAS))
    return engine.end().counters["cycles"]


def test_as_many_ctas_as_have_registers_run_together():
    """A CTA of 64 threads with 32 registers each takes 2,048: t - 1 registers hold one CTA less."""
    together = cycles(0, 2048)  # not told: no limit
    assert cycles(32, 0) == together  # a machine without a limit
    assert cycles(32, CTAS * 2048) == together
    chain = load_machine("gtx980").sm.alu_latency_cycles * CHAIN
    assert cycles(32, CTAS * 2048 - 1) >= together + chain // 2
    assert cycles(32, 2048) >= CTAS * chain


def test_registers_are_given_out_in_units_of_eight():
    assert cycles(25, CTAS * 2048) == cycles(32, CTAS * 2048)
    assert cycles(25, CTAS * 2048 - 1) > cycles(24, CTAS * 2048 - 1)


def test_a_cta_that_never_fits_is_refused():
    with pytest.raises(EngineError, match=r"needs 2048 registers per CTA, but sm\.registers of 'gtx980' is 2047"):
        cycles(32, 2047)
