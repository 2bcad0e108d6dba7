"""The machine that a request asks for, with the settings of its reading: areas need it without a run."""

from __future__ import annotations

from warpsift.machines import Machine, load_machine
from warpsift.run.request import Request


def machine_of(request: Request) -> Machine:
    settings = {key: value for key, value in request.overrides.items() if not key.startswith("costs.")}
    return load_machine(str(request.gpu), settings)
