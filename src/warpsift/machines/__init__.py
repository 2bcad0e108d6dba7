"""Modelled GPUs: TOML files with the source of every number, and the typed specification they fill in."""

from warpsift.machines.machine_file import load_machine, machine_keys, machine_names, machine_parameters
from warpsift.machines.spec import Machine, MachineError

__all__ = ["Machine", "MachineError", "load_machine", "machine_keys", "machine_names", "machine_parameters"]
