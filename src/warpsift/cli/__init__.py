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
    from warpsift.cli import compare, costs, graphs, hdl, reproduce, run, study, sweep, validate  # noqa: F401
    from warpsift.cli.app import app

    return app
