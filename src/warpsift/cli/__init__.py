"""The command line: one module per command or pair of commands, each a thin layer over the Python interface.

Nothing is imported before `main` watches over it, so that Ctrl-C during the imports ends in one line too.
"""

from typing import Any

__all__ = ["application", "main"]


def main() -> None:
    """Entry point of the `warpsift` command."""
    from warpsift.cli.guard import guarded

    guarded(lambda: application()())


def application() -> Any:
    """The Typer application with all commands: importing a module registers its own."""
    from warpsift.cli import (  # noqa: F401
        claims_command,
        compare_command,
        costs_command,
        explore_command,
        graphs_command,
        hdl_command,
        pack_command,
        reproduce_command,
        run_command,
        search_command,
        study_command,
        sweep_command,
        validate_command,
        which_unit_command,
    )
    from warpsift.cli.app import app

    return app
