"""The command line: one module per command or pair of commands, each a thin layer over the Python interface."""

from warpsift.cli import compare_command as compare
from warpsift.cli import costs_command as costs
from warpsift.cli import explore_command as explore
from warpsift.cli import graphs_command as graphs
from warpsift.cli import hdl_command as hdl
from warpsift.cli import reproduce_command as reproduce
from warpsift.cli import run_command as run
from warpsift.cli import study_command as study
from warpsift.cli import sweep_command as sweep
from warpsift.cli import validate_command as validate  # noqa: F401  (importing a module registers its commands)
from warpsift.cli.app import app, main

__all__ = ["app", "main"]
