"""The JSON columns of a stored run, read back: quickly, since a sweep has 100,000 of them, and checked.

Many rows share their request, graph and machine, so that each such text is decoded once. Results are long, and whoever
asks for a few of their numbers need not have the others decoded, nor read: a result's `numbers` are kept beside it.
"""

from __future__ import annotations

import contextlib
import gc
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypedDict

import msgspec

from warpsift.store.canonical_json import from_json, to_json
from warpsift.store.store_errors import StoreError

REQUEST, GRAPH, MACHINE, RESULT = range(4)
_NAMES = ("request", "graph", "machine", "result")
_NEEDED = (("algorithm", "graph", "options", "overrides"), ("name",), (), ("check",))
_INNER = (("options", "overrides"), (), (), ("options",))  # tables themselves, where they are there
# Of `Record`: key, status, version, package, the four columns, error_kind, error, finished_at, host, host_seconds.
_TEXT, _NUMBER, _OPTIONAL = (str,), (int, float, type(None)), (str, type(None))
_KINDS = (*[_TEXT] * 6, *[_OPTIONAL] * 4, _NUMBER, _OPTIONAL, _NUMBER)
_KEPT_TEXTS = 10_000


def numbers_of(result: str) -> str | None:
    """What most tables want of a result, a tenth of its text: what is one value stays, as do the options.

    Whatever is longer is left out, and an empty list stands in its place.
    """
    value = from_json(result)
    if not isinstance(value, dict):
        return None
    return to_json({name: [] if _is_left_out(name, part) else part for name, part in value.items()})


def _is_left_out(name: str, part: Any) -> bool:
    return isinstance(part, (list, dict)) and name not in _INNER[RESULT]


class LeftOut(Exception):
    """A part was asked for that is not among a result's numbers."""


class Columns:
    """Decodes the columns of many rows of one store; of results all, or what is always there and these `parts`."""

    def __init__(
        self,
        path: object,
        machines: Mapping[str, str],
        parts: Collection[str] | None = None,
        *,
        numbers: bool = False,
    ) -> None:
        self._path = path
        self._machines = machines  # digest to text
        self._numbers = numbers  # results are given as their numbers
        self._read_result = _read if parts is None else _PartsReader({*parts, *_NEEDED[RESULT], *_INNER[RESULT]})
        self._kinds: set[tuple[type, ...]] = set()  # of rows that were in order
        self._seen: dict[tuple[int, str], dict[str, Any]] = {}
        self._last: list[tuple[str | None, dict[str, Any] | None]] = [(None, None)] * len(_NAMES)

    def check(self, row: tuple[Any, ...]) -> None:
        """Raise unless every value is of its column's kind: a damaged file may hold any in any."""
        kinds = tuple(map(type, row))
        if kinds in self._kinds:
            return
        if not all(map(isinstance, row, _KINDS)):
            raise StoreError(
                f"{self._path} is damaged (run {str(row[0])[:40]!r}): restore a copy, or start a new store with --store"
            )
        self._kinds.add(kinds)

    def decode(self, key: object, texts: tuple[str | None, ...]) -> tuple[dict[str, Any] | None, ...]:
        """Request, graph, machine and result of the row with this key."""
        request, graph, machine, result = texts
        return (
            self._shared(key, REQUEST, request),
            self._shared(key, GRAPH, graph),
            self._shared(key, MACHINE, machine),
            None if result is None else self._checked(key, RESULT, result),
        )

    def _shared(self, key: object, kind: int, text: str | None) -> dict[str, Any] | None:
        last, found = self._last[kind]
        if last == text:  # of graph and machine mostly so
            return found
        if text is None:
            return None
        known = self._seen.get((kind, text))
        if known is None:
            known = self._checked(key, kind, text)
            if len(self._seen) < _KEPT_TEXTS:
                self._seen[kind, text] = known
        self._last[kind] = text, known
        return known

    def _checked(self, key: object, kind: int, text: str) -> dict[str, Any]:
        problem = "not complete, or damaged"
        if kind == MACHINE:
            text = self._machines.get(text, text)
        try:
            value = self._read_result(text) if kind == RESULT else _read(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            wrong = [name for name in _NEEDED[kind] if name not in value]
            wrong += [name for name in _INNER[kind] if not isinstance(value.get(name, {}), dict)]
            if not wrong:
                if self._numbers and kind == RESULT and [] in value.values():
                    raise LeftOut
                return value
            problem = f"without a proper {wrong[0]!r}"
        raise StoreError(
            f"{self._path}: the {_NAMES[kind]} of run {str(key)[:40]!r} is {problem}: restore a copy of the store, or "
            f'remove the run with sqlite3 {self._path} "DELETE FROM runs WHERE key = ..."'
        )


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):  # NaN, and names that are not UTF-8: Python's own reader takes them
        return json.loads(text)


class _PartsReader:
    """Of a JSON object the values of these names; the others are passed over, which is several times as fast."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = sorted(names)
        parts = TypedDict("parts", dict.fromkeys(self._names, Any), total=False)  # type: ignore[misc]
        self._decode = msgspec.json.Decoder(parts).decode

    def __call__(self, text: str) -> Any:
        try:
            return self._decode(text)
        except (msgspec.MsgspecError, UnicodeError):  # as in `_read`, and what is no object at all
            value = json.loads(text)
            return {name: value[name] for name in self._names if name in value} if isinstance(value, dict) else value


@contextlib.contextmanager
def no_collecting() -> Iterator[None]:
    """Millions of new objects and no garbage among them: looking for it takes half of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
