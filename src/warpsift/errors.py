"""Errors that are part of the interface: what was wrong, where, and what to write instead."""


class WarpsiftError(Exception):
    """Base of every error a user can cause; the command line prints its message and exits with 2."""
