"""A text file being read: its bytes, the place reached, and errors that name file, line and expectation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from warpsift.graph.graph_errors import FileError
from warpsift.graph.limits import size_problem
from warpsift.graph.readers import scan_rows as scan

UNBOUNDED = 2**62
_SHOWN_BYTES = 40  # of a bad token: enough to find it, short enough for one line


@dataclass
class GraphText:
    """A file's content and where reading stands (`at`, in line `line`)."""

    path: str
    content: bytearray
    max_bytes: int
    at: int = 0
    line: int = 1

    def fail(self, reason: str, line: int | None = None) -> NoReturn:
        raise FileError(self.path, reason, self.line if line is None else line)

    @property
    def array(self) -> np.ndarray:
        return np.frombuffer(self.content, np.uint8)

    def peek(self, ahead: int = 0) -> bytes | None:
        """The line reached (or one further ahead), without its end; None at the end of the file."""
        at = self.at
        for _ in range(ahead):
            at = self._after_line(at)
        return None if at >= len(self.content) else bytes(self.content[at : self._after_line(at)]).strip()

    def skip_line(self) -> None:
        self.at = self._after_line(self.at)
        self.line += 1

    def _after_line(self, at: int) -> int:
        end = self.content.find(b"\n", at)
        return len(self.content) if end < 0 else end + 1

    def skip_comments(self, marks: tuple[bytes, ...]) -> list[tuple[int, bytes]]:
        """Skip empty lines and lines that begin with a mark; returns the latter with their numbers."""
        comments: list[tuple[int, bytes]] = []
        while (line := self.peek()) is not None:
            if line.startswith(marks):
                comments.append((self.line, line))
            elif line:
                break
            self.skip_line()
        return comments

    def refuse_size(self, nodes: int, arcs: int) -> None:
        """Fail if a header asks for more than fits, before anything is allocated."""
        problem = size_problem(nodes, arcs, self.max_bytes)
        if problem:
            self.fail(f"the header promises {problem}")

    def token(self, at: int) -> str:
        end = at
        while end < len(self.content) and end - at < _SHOWN_BYTES and self.content[end] > 32:
            end += 1
        return self.content[at:end].decode("ascii", "backslashreplace")


@dataclass(frozen=True)
class RowShape:
    """What every line holds; `words` is the form to show to a user, e.g. `u v w`."""

    words: str
    skipped: int = 0
    integers: int = 2
    reals: int = 0
    lead: str = ""
    comments: str = "#%"
    lowest: int = 0
    highest: int = UNBOUNDED


def read_rows(text: GraphText, shape: RowShape) -> tuple[np.ndarray, np.ndarray | None]:
    """The integers (one array per column) and the reals (float64, or None) of all lines from here on."""
    lead = ord(shape.lead) if shape.lead else 0
    comments = (ord(shape.comments[0]), ord(shape.comments[-1]))
    (status, at, line), integers, reals, unsettled = scan.scan_rows(
        text.array,
        text.at,
        text.line,
        (shape.skipped, shape.integers, shape.reals),
        (shape.lowest, shape.highest),
        (lead, *comments),
    )
    for row, place, where in unsettled.tolist():
        reals[row] = _python_float(text, place, where)
    if status != scan.FINE:
        text.fail(_words(text, status, at, shape), line)
    text.at, text.line = at, line
    return integers, (reals if shape.reals else None)


def _python_float(text: GraphText, at: int, line: int) -> float:
    end = at
    while end < len(text.content) and text.content[end] > 32 and text.content[end] not in b",;":
        end += 1
    token = bytes(text.content[at:end])
    try:
        if b"_" in token:  # Python reads 1_000, no other program does
            raise ValueError
        return float(token)
    except ValueError:
        shown = token[:_SHOWN_BYTES].decode("ascii", "backslashreplace")
        text.fail(f"expected a number as weight, found {shown!r}", line)


def _words(text: GraphText, status: int, at: int, shape: RowShape) -> str:
    token = text.token(at)
    expected = f"expected `{shape.words}`"
    if status == scan.MISSING:
        return f"{expected}, but the line ends early"
    if status == scan.EXTRA:
        return f"{expected}, found {token!r} after it"
    if status == scan.TOO_LARGE:
        return f"{expected} with integers below 2^63, found {token!r}"
    if status == scan.BAD_LEAD:
        return f"{expected}, found {token!r}"
    if status == scan.OUT_OF_RANGE:
        if shape.highest >= UNBOUNDED:
            return f"node ID {token} is out of range; expected {shape.lowest} or more"
        return f"node ID {token} is out of range; expected {shape.lowest} to {shape.highest}"
    return f"{expected} with integer IDs, found {token!r}"


def integers_of(text: GraphText, words: Sequence[bytes], form: str) -> list[int]:
    """The words of a header as integers from 0 up."""
    for word in words:
        if not word.isdigit() or len(word) > 18:
            shown = word[:_SHOWN_BYTES].decode("ascii", "backslashreplace")
            text.fail(f"expected `{form}` with integers from 0 up, found {shown!r}")
    return [int(word) for word in words]


def as_weights(values: np.ndarray | None) -> np.ndarray | None:
    """Int32 if every value is an integer that fits, else float32."""
    if values is None:
        return None
    if np.all(np.abs(values) < 2**31) and np.all(values == np.floor(values)):
        return values.astype(np.int32)
    with np.errstate(over="ignore"):
        return values.astype(np.float32)
