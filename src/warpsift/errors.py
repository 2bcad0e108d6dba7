"""Errors that are part of the interface: what was wrong, where, and what to write instead."""

from warpsift.printable import one_line


class WarpsiftError(Exception):
    """Base of every error a user can cause; the command line prints its message and exits with 2.

    The message is one printable line of bounded length, whatever the file that it quotes holds.
    """

    def __str__(self) -> str:
        return one_line(super().__str__())
