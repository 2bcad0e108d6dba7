"""Errors that are part of the interface: what was wrong, where, and what to write instead."""

from collections.abc import Sequence
from difflib import get_close_matches

from warpsift.printable import one_line


class WarpsiftError(Exception):
    """Base of every error a user can cause; the command line prints its message and exits with 2.

    The message is one printable line of bounded length, whatever the file that it quotes holds.
    """

    def __str__(self) -> str:
        return one_line(super().__str__())


def unknown(what: str, name: str, valid: Sequence[str]) -> str:
    """The message about a name that does not exist, with the nearest that does."""
    near = get_close_matches(name, valid, 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"unknown {what} '{name}': {hint}choose one of {', '.join(valid)}"
