"""The command line: one module per command or pair of commands, each a thin layer over the Python interface."""

from warpsift.cli import (  # noqa: F401  (importing a module registers its commands)
    compare_command,
    costs_command,
    graphs_command,
    hdl_command,
    reproduce_command,
    run_command,
    study_command,
    sweep_command,
    validate_command,
)
from warpsift.cli.app import app, main

__all__ = ["app", "main"]
