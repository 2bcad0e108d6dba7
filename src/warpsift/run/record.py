"""A run as data: what was asked, what came out, counted per phase and in total; printable, plottable, JSON."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warpsift.errors import WarpsiftError
from warpsift.simt.stream_counter import LaunchRecord, OperationRecord, StreamCounters

if TYPE_CHECKING:
    import pandas

    from warpsift.costs.energy import EnergyReport
    from warpsift.graph import CsrGraph


@dataclass
class Phase:
    """All launches, or all operations of a unit, of one phase of the algorithm."""

    name: str
    compaction: bool
    unit: str = ""  # whose operations; empty: the GPU's launches
    launches: int = 0
    counters: StreamCounters = field(default_factory=StreamCounters)
    unit_counters: dict[str, int] = field(default_factory=dict)  # what a unit's operations counted
    timing: dict[str, Any] = field(default_factory=dict)  # cycles, seconds and the engine's counters, if timed
    energy: EnergyReport | None = None  # where the cost tables know the machine

    def as_dict(self) -> dict[str, Any]:
        return {
            "phase": self.name,
            "compaction": self.compaction,
            "unit": self.unit,
            "launches": self.launches,
            **stream_dict(self.counters),
            **self.unit_counters,
            **self.timing,
            **({"energy_joules": self.energy.energy_joules} if self.energy else {}),
        }


def stream_dict(c: StreamCounters) -> dict[str, Any]:
    return {
        "warp_instructions": c.warp_instructions,
        "thread_instructions": c.thread_instructions,
        "memory_instructions": c.memory_instructions,
        "transactions": c.transactions,
        "sectors": c.sectors,
        "coalescing_efficiency": round(c.coalescing_efficiency, 4),
        "transactions_per_memory_instruction": round(c.transactions_per_memory_instruction, 4),
        "active_lanes": round(c.active_lanes, 2),
    }


def graph_facts(graph: CsrGraph) -> dict[str, Any]:
    """What a record says of its graph."""
    return {
        "name": graph.name,
        "nodes": graph.nodes,
        "edges": graph.edges,
        "stand_in_for": graph.stand_in_for,
        "content_hash": graph.content_hash,
    }


def by_phase(launches: list[LaunchRecord], operations: list[OperationRecord]) -> list[Phase]:
    """Sum launches and operations by phase, in order of first appearance; the unit's come last."""
    phases: dict[tuple[str, bool, str], Phase] = {}
    for launch in launches:
        key = (launch.info.phase, launch.info.compaction, "")
        phase = phases.setdefault(key, Phase(*key))
        phase.launches += 1
        phase.counters += launch.counters
    for operation in operations:
        key = (operation.info.phase, operation.info.compaction, operation.info.unit)
        phase = phases.setdefault(key, Phase(*key))
        phase.launches += 1
        for name, value in operation.counters.items():
            phase.unit_counters[name] = phase.unit_counters.get(name, 0) + value
    return list(phases.values())


@dataclass(repr=False)
class RunResult:
    """What `warpsift.simulate` returns. `print(result)` shows it in short, a notebook as a table."""

    algorithm: str
    style: str
    unit: str
    graph: dict[str, Any]
    options: dict[str, Any]
    check: str  # "pass", "fail" or "skipped"
    check_reason: str
    iterations: int
    work: dict[str, float]
    notes: dict[str, Any]
    phases: list[Phase]
    values: Any  # the answer, one per node
    launches: list[LaunchRecord]
    host_seconds: float  # running and recording, and timing if a GPU was named
    nodes_reached: int = 0  # from the source; all of them where every node starts
    edges_reached: int = 0  # arcs that leave those nodes: what MTEPS counts
    machine: dict[str, Any] | None = None
    timing: dict[str, Any] = field(default_factory=dict)
    energy: dict[str, Any] = field(default_factory=dict)
    array_traffic: dict[str, list[int]] = field(default_factory=dict)  # columns: `launch_history.TRAFFIC`
    timeline: dict[str, Any] = field(default_factory=dict)  # of launches, see `launch_history.timeline`
    reading: str | None = None  # whose choices it was run with
    sampling: dict[str, Any] = field(default_factory=dict)  # of a sampled run: how much of it was timed
    intervals: dict[str, Any] = field(default_factory=dict)  # its numbers by name: [low, high], 95 %
    energy_report: EnergyReport | None = None  # what `energy` was written from: its charges, one per price
    engine: Any = None  # the `Engine` that timed it, for samples and per-launch counters

    @property
    def counters(self) -> StreamCounters:
        total = StreamCounters()
        for phase in self.phases:
            total += phase.counters
        return total

    def __getattr__(self, name: str) -> Any:
        """Counters as attributes: `result.cycles`, `result.transactions`."""
        if not name.startswith("_"):
            for source in (self.timing, self.energy, stream_dict(self.counters)):
                if name in source:
                    return source[name]
        known = [*self.timing, *self.energy, *stream_dict(StreamCounters())] if "timing" in self.__dict__ else []
        raise AttributeError(f"a run has no {name!r}; it has {', '.join(known)}")

    def __repr__(self) -> str:
        from warpsift.run.result_view import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from warpsift.run.result_view import html_of

        return html_of(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Time by phase, scheduler cycles and energy as a matplotlib figure; written to `path` if there is one."""
        from warpsift.run.run_picture import draw_run

        return draw_run(self, path)

    def to_frame(self) -> pandas.DataFrame:
        """The phase table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise WarpsiftError("a DataFrame needs the package pandas: pip install 'warpsift[notebook]'") from error
        return pandas.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The phase table, one dictionary a row: `pandas.DataFrame(result.rows())`; `as_dict` has all counters."""
        return [{k: v for k, v in phase.as_dict().items() if k != "counters"} for phase in self.phases]

    def as_dict(self) -> dict[str, Any]:
        """Everything but the answer itself, ready for JSON."""
        return {
            "algorithm": self.algorithm,
            "style": self.style,
            "unit": self.unit,
            "reading": self.reading,
            "graph": self.graph,
            "options": self.options,
            "check": self.check,
            "check_reason": self.check_reason,
            "iterations": self.iterations,
            "nodes_reached": self.nodes_reached,
            "edges_reached": self.edges_reached,
            "work": self.work,
            "notes": self.notes,
            **stream_dict(self.counters),
            **self.timing,
            **self.energy,
            "host_seconds": round(self.host_seconds, 4),
            "phases": [phase.as_dict() for phase in self.phases],
            "array_traffic": self.array_traffic,
            "timeline": self.timeline,
            **({"sampling": self.sampling, "intervals": self.intervals} if self.sampling else {}),
            "machine": self.machine,
        }
