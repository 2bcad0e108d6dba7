"""The command line: one module per command or pair of commands, each a thin layer over the Python interface."""

from warpsift.cli import compare, costs, graphs, hdl, reproduce, run, study, sweep, validate  # noqa: F401  (importing a module registers its commands)
from warpsift.cli.app import app, main

__all__ = ["app", "main"]
