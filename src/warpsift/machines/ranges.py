"""What each key of a machine file may be: bounds with unit and reason, declared beside the field and checked here.

    count: Annotated[int, Bounds(1, 255, "SMs", "each is a port of the crossbar")]

`range_problems` refuses values outside; `declared` gives every key with unit, default, range and reason, for pages
and tests. Rules that tie several keys together are in rules.py and dram_rules.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

SHOWN_CHARACTERS = 40  # of a wrong value; a file may hold numbers of thousands of digits


@dataclass(frozen=True)
class Bounds:
    """The values that a key may have, ends included, and why no others."""

    low: float
    high: float
    unit: str
    reason: str
    only: tuple[int, ...] = ()  # of these, no others

    def allows(self, value: Any) -> bool:
        """Not a number and infinity lie in no range."""
        return bool(self.low <= value <= self.high) and (not self.only or value in self.only)

    def __str__(self) -> str:
        return either(self.only) if self.only else f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Letters:
    """How long a text may be."""

    most: int
    reason: str

    def __str__(self) -> str:
        return f"up to {self.most} printable characters"


def either(values: Sequence[Any]) -> str:
    """Values as a sentence offers them."""
    *others, last = map(repr, values)
    return f"{', '.join(others)} or {last}" if others else last


def powers(low: int, high: int) -> tuple[int, ...]:
    """The powers of two from one to the other."""
    return tuple(1 << n for n in range(low.bit_length() - 1, high.bit_length()))


@dataclass(frozen=True)
class Declared:
    """One key of a machine file."""

    key: str
    unit: str
    default: Any  # msgspec.NODEFAULT: every machine must say it
    range: str
    reason: str
    bounds: Bounds | None  # of numbers
    choices: tuple[Any, ...]  # of names and switches


def shown(value: Any) -> str:
    """A value as an error line shows it."""
    text = "a very large number" if isinstance(value, int) and abs(value) > 10**SHOWN_CHARACTERS else repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 3] + "..."


@cache  # annotations are text that is evaluated: half a millisecond for each field
def _fields(struct: type) -> tuple[Any, ...]:
    return msgspec.structs.fields(struct)


def declared(struct: type, prefix: str = "") -> Iterator[Declared]:
    """Every key of a section and of those inside it; a number without bounds is a mistake in the program."""
    for field in _fields(struct):
        key = prefix + field.name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from declared(field.type, key + ".")
            continue
        if get_origin(field.type) in (dict, tuple):  # sections of units (`unit_sections.spec_types`), and the lineage
            continue
        kind, rule = _parts(field.type)
        choices = get_args(kind) if get_origin(kind) is Literal else (False, True) if kind is bool else ()
        if choices:
            text = ", ".join("true" if c is True else "false" if c is False else str(c) for c in choices)
            yield Declared(key, "", field.default, text, "", None, choices)
        elif isinstance(rule, Letters):
            yield Declared(key, "", field.default, str(rule), rule.reason, None, ())
        elif isinstance(rule, Bounds):
            yield Declared(key, rule.unit, field.default, str(rule), rule.reason, rule, ())
        else:
            raise TypeError(f"{struct.__name__}.{field.name} has no Bounds: every number of a machine has a range")


def range_problems(section: msgspec.Struct, prefix: str = "") -> Iterator[str]:
    """Texts of what lies outside of its range: key, value, range and reason."""
    for field in _fields(type(section)):
        key, value = prefix + field.name, getattr(section, field.name)
        if isinstance(value, msgspec.Struct):
            yield from range_problems(value, key + ".")
            continue
        kind, rule = _parts(field.type)
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        if choices and value not in choices:
            yield f"{key} = {shown(value)}: write {either(choices)}"
        elif isinstance(rule, Bounds) and not rule.allows(value):
            unit = f" {rule.unit}" if rule.unit else ""
            yield f"{key} = {shown(value)}: write {rule}{unit} ({rule.reason})"
        elif isinstance(rule, Letters) and (len(value) > rule.most or not value.isprintable()):
            yield f"{key} = {shown(value)}: write {rule} ({rule.reason})"


def _parts(kind: Any) -> tuple[Any, Bounds | Letters | None]:
    """The plain type of a field, and its rule."""
    if get_origin(kind) is not Annotated:
        return kind, None
    plain, *extras = get_args(kind)
    rules = [extra for extra in extras if isinstance(extra, Bounds | Letters)]
    return plain, rules[0] if rules else None
