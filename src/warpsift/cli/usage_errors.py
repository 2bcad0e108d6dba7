"""A wrong option or argument ends in one line too: what was wrong, what was meant, where to look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import typer
import typer.core

from warpsift.errors import WarpsiftError

# Click's own, wherever Typer keeps it: since version 0.2x it brings a copy.
UsageError: Any = typer.BadParameter.__base__


class CommandLineError(WarpsiftError):
    """A command line that cannot be understood."""


# What a newcomer needs stands first in the help.
ORDER = ("run", "compare", "info", "list", "sweep", "results", "pareto", "explore", "reproduce", "claims", "validate")


class OneLineErrors(typer.core.TyperGroup):
    """The group of all commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        found = super().list_commands(ctx)
        return [*(name for name in ORDER if name in found), *(name for name in found if name not in ORDER)]

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a call without words prints the help
            raise
        raise CommandLineError(_sentence(error)) from None


def _sentence(error: Any) -> str:
    ctx = error.ctx
    if ctx is None:
        return " ".join(error.format_message().split())
    where = _path(ctx)
    name = getattr(error, "option_name", None)
    if type(error).__name__ != "NoSuchOption" or name is None:
        return f"{' '.join(error.format_message().split()).rstrip('.')} (see '{where} --help')"
    owners = _owners(ctx, name)
    if owners:
        return f"'{name}' is an option of {owners}, not of '{where}': leave it out"
    flags = [flag for p in ctx.command.params for flag in (*p.opts, *p.secondary_opts) if flag.startswith("--")]
    near = get_close_matches(name, flags, 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"unknown option '{name}': {hint}'{where} --help' lists all"


def _path(ctx: Any) -> str:
    """The command as it is typed."""
    names: list[str] = []
    while ctx.parent is not None:
        names.insert(0, ctx.info_name)
        ctx = ctx.parent
    return " ".join(["warpsift", *names])


def _owners(ctx: Any, flag: str) -> str:
    """Which other algorithms have this option, if the command is one of an algorithm."""
    from warpsift.algorithms import ALGORITHMS
    from warpsift.run.request import all_options

    if ctx.info_name not in ALGORITHMS:
        return ""
    name = flag.removeprefix("--").removeprefix("no-").replace("-", "_")
    return ", ".join(all_options().get(name, []))
