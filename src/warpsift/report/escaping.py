"""Tables and lines for a terminal, in which names and messages from files cannot act as commands."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from warpsift.printable import printable


class Escaping(RenderHook):
    """Give it to `Console.push_render_hook`: everything printed afterwards is shown escaped."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Escaped(each) for each in renderables]


class _Escaped:
    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _escaped(console.render(self._inner, options))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._inner)


def _escaped(segments: Iterable[Segment]) -> Iterable[Segment]:
    for segment in segments:
        if segment.control:  # ours, not of the text
            yield segment
        else:
            text = "\n".join(printable(line) for line in segment.text.split("\n"))
            yield Segment(text, segment.style)
