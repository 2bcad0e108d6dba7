"""What a user may choose: declared once, as fields of a dataclass, with help, range and choices beside the default.

An algorithm declares its options as a subclass of `Options`, a unit may add some of its own (`Unit.options`), and a
request (`run/request.py`) declares its fields in the same way. The Python interface, the command line, sweep files and
reports read these declarations. Values are checked here and nowhere else, when an object of such a class is made.
"""

from __future__ import annotations

import math
import os
import typing
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any

import msgspec

from warpsift.errors import WarpsiftError

_KEY = "warpsift.option"  # in a field's metadata


class OptionError(WarpsiftError):
    """An option that the graph or the algorithm cannot take."""


@dataclass(frozen=True)
class Declaration:
    """What is known of an option beside its name, type and default."""

    help: str = ""
    choices: Sequence[str] = ()
    minimum: float | None = None
    maximum: float | None = None
    exclusive: bool = False  # the ends of the range do not belong to it
    styles: Sequence[str] = ()  # of the algorithm that read it; empty: all
    flag: str | None = None  # on the command line; None: from the name
    on_command_line: bool = True  # False: for Python and sweep files only

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, as the end of a sentence that begins with the option's name."""
        if value is None:
            return None
        if self.choices and value not in self.choices:
            return f"must be {' or '.join(map(repr, self.choices))}, not {value!r}"
        if value in (math.inf, -math.inf):
            return f"must be a finite number, not {value}"
        low, high = self.minimum, self.maximum
        too_low = low is not None and (value < low or (self.exclusive and value == low))
        too_high = high is not None and (value > high or (self.exclusive and value == high))
        if not (too_low or too_high or value != value):  # a number that is not equal to itself is none
            return None
        if low is not None and high is not None:
            return f"must lie between {low} and {high}, not {value}"
        if high is None:
            return f"must be {'more than' if self.exclusive else 'at least'} {low}, not {value}"
        return f"must be {'less than' if self.exclusive else 'at most'} {high}, not {value}"


def option(default: Any, help: str, **declared: Any) -> Any:
    """A field of an options class; `declared` are the other fields of `Declaration`."""
    return field(default=default, metadata={_KEY: Declaration(help, **declared)})


def declaration_of(declared: Field[Any]) -> Declaration:
    """The declaration of a field; an empty one if it is a plain field of a dataclass."""
    found: Declaration = declared.metadata.get(_KEY, Declaration())
    return found


def is_declared(declared: Field[Any]) -> bool:
    return _KEY in declared.metadata


def flags_of(declared: Field[Any]) -> tuple[str, str]:
    """How the command line switches an option on, and off if it is a switch."""
    name = declaration_of(declared).flag or "--" + declared.name.replace("_", "-")
    return name, "--no-" + name.removeprefix("--")


_types: dict[type, dict[str, Any]] = {}


def types_of(owner: type) -> dict[str, Any]:
    """The types of a class's fields."""
    if owner not in _types:
        _types[owner] = typing.get_type_hints(owner)
    return _types[owner]


def check_declared(chosen: Any) -> None:
    """Check all declared fields of a frozen object and bring them to their types: NumPy's numbers, 1 for 1.0."""
    for each in fields(chosen):
        if not is_declared(each):
            continue
        value = _plain(getattr(chosen, each.name))
        try:
            value = msgspec.convert(value, types_of(type(chosen))[each.name])
        except msgspec.ValidationError as error:
            reason = f"{str(error)[0].lower()}{str(error)[1:]}"
            raise OptionError(f"'{each.name}' = {value!r}: {reason}") from error
        problem = declaration_of(each).problem(value)
        if problem is not None:
            raise OptionError(f"{each.name} {problem}")
        object.__setattr__(chosen, each.name, value)


def _plain(value: Any) -> Any:
    """NumPy's numbers and paths as Python's own."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if hasattr(value, "item") else value


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every algorithm has; an algorithm adds its own in a subclass."""

    seed: int = option(1, "For the source, random weights and the order of races.", minimum=0)
    max_iterations: int | None = option(None, "Stop after so many iterations.", minimum=1)

    def __post_init__(self) -> None:
        check_declared(self)


def option_names(owner: type[Options]) -> list[str]:
    return [each.name for each in fields(owner)]


_joined: dict[tuple[type[Options], ...], type[Options]] = {}


def joined(base: type[Options], *further: type[Options]) -> type[Options]:
    """The options of an algorithm together with those that units add."""
    others = tuple(each for each in further if not issubclass(base, each))
    if not others:
        return base
    parts = (base, *others)
    if parts in _joined:
        return _joined[parts]
    made = type("+".join(each.__name__ for each in parts), (*others, base), {"__reduce__": _reduce})
    made._parts = parts  # type: ignore[attr-defined]
    _joined[parts] = dataclass(frozen=True, kw_only=True)(made)
    return _joined[parts]


def _reduce(self: Any) -> tuple[Callable[..., Options], tuple[Any, ...]]:
    """A class made on the fly travels to another process as its parts."""
    return _restored, (self._parts, {each.name: getattr(self, each.name) for each in fields(self)})


def _restored(parts: tuple[type[Options], ...], values: dict[str, Any]) -> Options:
    return joined(*parts)(**values)
