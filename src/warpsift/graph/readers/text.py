"""A text file being read: its bytes, the place reached, and errors that name file, line and expectation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from warpsift.graph.graph_errors import FileError
from warpsift.graph.limits import NODE_BYTES, ROW_BYTES, Limits
from warpsift.graph.readers import scan_rows as scan

UNBOUNDED = 2**62
_SHOWN_BYTES = 40  # of a bad token: enough to find it, short enough for one line
_LONGEST_HEADER = 4096  # bytes of a header's line
_LONGEST_NUMBER = 1024  # letters; 767 digits tell any two doubles apart


@dataclass
class GraphText:
    """A file's content and where reading stands (`at`, in line `line`)."""

    path: str
    content: bytearray
    limits: Limits
    at: int = 0
    line: int = 1
    rows: int = 0  # and nodes: what reading has been found to take so far
    nodes: int = 0

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
        if at >= len(self.content):
            return None
        end = self._after_line(at)
        if end - at > _LONGEST_HEADER:
            self.fail(f"a line of {end - at} bytes; expected at most {_LONGEST_HEADER}", self.line + ahead)
        return bytes(self.content[at:end]).strip()

    def skip_line(self) -> None:
        self.at = self._after_line(self.at)
        self.line += 1

    def _after_line(self, at: int) -> int:
        end = self.content.find(b"\n", at)
        return len(self.content) if end < 0 else end + 1

    def skip_comments(self, marks: str) -> None:
        """Skip empty lines and lines that begin with one of two marks (or one, given alone)."""
        self.at, self.line = scan.skip_comments(self.array, self.at, self.line, ord(marks[0]), ord(marks[-1]))

    def refuse_size(self, nodes: int, arcs: int) -> None:
        """Fail if a header asks for more than fits, before anything is allocated."""
        problem = self.limits.graph_problem(nodes, arcs)
        if problem:
            self.fail(f"the header promises {problem}")

    def has_room(self, rows: int) -> bool:
        """Whether so many rows may be read."""
        return self._reading_problem(rows) is None

    def refuse_reading(self, rows: int = 0, nodes: int = 0) -> None:
        """Fail if reading takes too much; numbers that are not known yet are told in a later call."""
        self.rows, self.nodes = max(self.rows, rows), max(self.nodes, nodes)
        problem = self._reading_problem(self.rows)
        if problem:
            self.fail(f"{self.nodes} nodes and {self.rows} rows of numbers: {problem}")

    def _reading_problem(self, rows: int) -> str | None:
        needed = len(self.content) + ROW_BYTES * max(self.rows, rows) + NODE_BYTES * self.nodes
        return self.limits.loading_problem(needed)

    def token(self, at: int) -> str:
        """The word at a place, or the beginning of it, for an error."""
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
    shortest = 2 * (shape.skipped + shape.integers + shape.reals) - 1
    lines = scan.count_line_ends(text.array, text.at)
    if not text.has_room(lines):  # unless most lines are too short to be rows
        lines = scan.count_lines(text.array, text.at, shortest)
        text.refuse_reading(rows=lines)
    lead = ord(shape.lead) if shape.lead else 0
    comments = (ord(shape.comments[0]), ord(shape.comments[-1]))
    (status, at, line), integers, reals, unsettled = scan.scan_rows(
        text.array,
        text.at,
        text.line,
        lines,
        (shape.skipped, shape.integers, shape.reals),
        (shape.lowest, shape.highest),
        (lead, *comments),
    )
    for row, place, where in unsettled.tolist():
        value = _python_float(text, place, where)
        if row < reals.size:  # the row of the error below is not among them
            reals[row] = value
    if status != scan.FINE:
        text.fail(_words(text, status, at, shape), line)
    text.at, text.line = at, line
    text.rows = max(text.rows, integers.shape[1])
    return integers, (reals if shape.reals else None)


def _python_float(text: GraphText, at: int, line: int) -> float:
    token = bytes(text.content[at : min(scan.token_end(text.array, at), at + _LONGEST_NUMBER + 1)])
    try:
        if b"_" in token or len(token) > _LONGEST_NUMBER:  # Python reads 1_000, no other program does
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
    if np.all((values >= -(2**31)) & (values < 2**31)) and np.all(values == np.floor(values)):
        return values.astype(np.int32)
    with np.errstate(over="ignore"):
        return values.astype(np.float32)
