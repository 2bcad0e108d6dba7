"""Errors that are part of the interface: what was wrong, where, and what to write instead."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from warpsift.printable import one_line

LONGEST_COMPARED = 200  # letters of a wrong name that are compared with the right ones


class WarpsiftError(Exception):
    """Base of every error a user can cause; the command line prints its message and exits with 2.

    The message is one printable line of bounded length, whatever the file that it quotes holds.
    """

    def __str__(self) -> str:
        return one_line(super().__str__())


MOST_LISTED = 10  # names that an error lists; of more the nearest few, and who lists all
NEAREST = 3


def unknown(what: str, name: str, valid: Iterable[str], listing: str = "") -> str:
    """The message about a name that does not exist, with the nearest that do; `listing` names what lists them all."""
    names = list(valid)
    near = get_close_matches(name[:LONGEST_COMPARED], names, NEAREST)
    if len(names) <= MOST_LISTED:
        hint = f"did you mean '{near[0]}'? " if near else ""
        return f"unknown {what} '{name}': {hint}choose one of {', '.join(names)}"
    return f"unknown {what} '{name}': {nearest(near, names, listing)}"


def nearest(near: Sequence[str], names: Sequence[str], listing: str) -> str:
    """The few of many names that may have been meant, or the first of them, and where all are."""
    rest = f"({listing} lists all)" if listing else f"({len(names)} in all)"
    if not near:
        return f"choose one of {', '.join(names[:NEAREST])}, ... {rest}"
    *others, last = (f"'{each}'" for each in near)
    return f"did you mean {', '.join(others) + ' or ' if others else ''}{last}? {rest}"
