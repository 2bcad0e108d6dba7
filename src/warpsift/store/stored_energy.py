"""The energy of a stored run, as a whole report."""

from __future__ import annotations

from warpsift.costs.energy import EnergyReport, combine
from warpsift.machines import load_machine
from warpsift.run.run_energy import GPU_IDLE_KEY, PREFIX, energy_of
from warpsift.store.store import Record


def energy_of_stored(record: Record, gpu_idle: str, phase: str | None = None) -> EnergyReport:
    """The energy of a finished run from the counters that the store holds, of one phase or of all of them.

    Unlike the numbers in the record it is a whole report: what rests on which price can be asked of it.
    """
    assert record.result is not None, "only a finished run has counters"
    asked = record.request
    settings = {key: value for key, value in asked["overrides"].items() if not key.startswith(PREFIX)}
    machine = load_machine(asked["gpu"], settings)
    parts = [part for part in record.result["phases"] if phase is None or part["phase"] == phase]
    reports = [
        energy_of(
            part["counters"],
            machine,
            asked["unit"],
            part["cycles"] if part["unit"] else 0.0,
            {**asked["overrides"], GPU_IDLE_KEY: gpu_idle},
        )
        for part in parts
    ]
    return combine(reports)
