"""What `warpsift run` can do beside running: kernel traces in and out, and a timeline."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.algorithms import ALGORITHMS
from warpsift.algorithms.options import option
from warpsift.run.request import RequestError

if TYPE_CHECKING:
    from warpsift.run.observer import Observer
    from warpsift.run.record import RunResult
    from warpsift.traces.writer import TraceWriter


THREADS = "Cores for a run: 2 (one records, one times; the default where there are two) or 1; same results."


def named_algorithms() -> str:
    """bfs, sssp or wcc."""
    *first, last = ALGORITHMS
    return f"{', '.join(first)} or {last}"


def check_subject(algorithm: str | None, graph: str | None, trace: str | None) -> None:
    """An algorithm with a graph, or a trace; neither and both are errors."""
    if trace is not None and (algorithm is not None or graph is not None):
        other = algorithm or f"--graph {graph}"
        raise RequestError(f"--trace {trace} and {other}: give an algorithm with --graph, or --trace, not both")
    if trace is None and algorithm is None:
        raise RequestError(f"nothing to run: give an algorithm ({named_algorithms()}) with --graph, or --trace DIR")
    if trace is None and graph is None:
        raise RequestError(f"{algorithm} needs a graph: --graph FILE, or a name such as --graph delaunay-14")


@dataclass(frozen=True)
class Extras:
    """What was asked for beside the run itself."""

    timeline: str | None = option(None, "Write a timeline for the Perfetto viewer, say run.pftrace; needs --gpu.")
    export_trace: str | None = option(None, "Write the launches as Accel-Sim kernel traces to a new folder.")
    threads: int | None = option(None, THREADS, minimum=1)
    title: str = option("", "What runs, for the line of progress.", on_command_line=False)
    gpu: str | None = option(None, "The machine, which a timeline needs.", on_command_line=False)

    @classmethod
    def taken_from(cls, given: dict[str, Any], title: str) -> Extras:
        """Take out of the given options what belongs here."""
        own = {name: given.pop(name, None) for name in ("timeline", "export_trace", "threads")}
        return cls(**own, title=title, gpu=given.get("gpu"))

    @property
    def sample_interval_cycles(self) -> int:
        if self.timeline is None:
            return 0
        if self.gpu is None:
            raise RequestError(f"--timeline {self.timeline} needs --gpu: without a machine there is no time")
        from warpsift.report.timeline import SAMPLE_INTERVAL_CYCLES, check_path

        check_path(self.timeline)
        return SAMPLE_INTERVAL_CYCLES

    def check(self) -> None:
        """Raise if what was asked for cannot be written; ask before anything is loaded."""
        if self.export_trace is None:
            return
        folder = Path(self.export_trace)
        there = next((place for place in (folder, *folder.parents) if os.path.exists(place)), Path())
        if there == folder and (not folder.is_dir() or any(folder.iterdir())):
            raise RequestError(f"--export-trace {folder}: is there already; name a new or an empty folder")
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise RequestError(f"--export-trace {folder}: {there} cannot be written; name another place")

    @contextmanager
    def observing(self) -> Iterator[Observer]:
        """Progress on standard error and, if asked for, a trace of what runs."""
        from warpsift.report.progress import Progress
        from warpsift.run.observer import Observer

        with ExitStack() as stack:
            writer: TraceWriter | None = None
            if self.export_trace is not None:
                from warpsift.machines import load_machine
                from warpsift.traces.writer import VOLTA, TraceWriter

                capability = VOLTA if self.gpu is None else load_machine(self.gpu).compute_capability
                writer = stack.enter_context(TraceWriter(self.export_trace, compute_capability=capability))
            progress = stack.enter_context(Progress(self.title))
            yield Observer(
                lambda phase, launch: progress.note(f"launch {launch} ({phase})"),
                progress.share,
                progress.cycles,
                writer,
            )

    def finish(self, result: RunResult, observer: Observer) -> None:
        """Write the timeline, and note in the result what was written."""
        writer: Any = observer.also
        if writer is not None:
            result.notes["exported_trace"] = (
                f"{self.export_trace}: {writer.kernels} kernels, {writer.instructions} warp instructions"
            )
            if writer.dropped_dependences:
                result.notes["exported_trace"] += f", {writer.dropped_dependences} dependences left out"
        if self.timeline is not None:
            from warpsift.report.timeline import write_timeline

            write_timeline(self.timeline, result.engine, self.title)
            result.notes["timeline"] = f"{self.timeline}: open it at https://ui.perfetto.dev"
