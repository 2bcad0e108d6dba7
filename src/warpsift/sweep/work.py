"""What a worker does with a task, in a process of this computer or of another: load the graph once, run, report.

Nothing is raised: a failure comes back as data, so that one bad point never stops a sweep.
"""

from __future__ import annotations

import hashlib
import socket
import traceback
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from warpsift.errors import WarpsiftError
from warpsift.run.request import Request
from warpsift.store.canonical_json import to_json
from warpsift.sweep.plan import graph_key

_KEPT_GRAPHS = 2  # a worker's points come ordered by graph; the second is for the border between two
_TRACEBACK_LINES = 12


@dataclass(frozen=True)
class Task:
    """A request and what it must find where it runs."""

    request: Request
    content_hash: str
    version: str
    threads: int = 1  # a sweep keeps its cores busy with points


@dataclass(frozen=True)
class Report:
    """What came of a task: a result as JSON text, or an error."""

    result: str | None
    host: str
    host_seconds: float = 0.0
    error_kind: str = ""
    error: str = ""


class WorkerError(WarpsiftError):
    """A worker that would not give the result that was asked for."""


_graphs: OrderedDict[str, Any] = OrderedDict()


def execute(task: Task) -> Report:
    """Run one task."""
    host = socket.gethostname()
    try:
        return _run(task, host)
    except WarpsiftError as error:
        return Report(None, host, error_kind=type(error).__name__, error=str(error))
    except Exception as error:  # anything else is a bug of ours, or memory: keep where it happened
        lines = traceback.format_exc().strip().splitlines()[-_TRACEBACK_LINES:]
        return Report(None, host, error_kind=type(error).__name__, error="\n".join(lines))


def _run(task: Task, host: str) -> Report:
    from warpsift.run.execute import Observer, run_request
    from warpsift.store.source_version import source_version

    if source_version() != task.version:
        raise WorkerError(
            f"the sources on {host} (version {source_version()}) are not those the sweep was started with "
            f"({task.version}): install the same warpsift, NumPy, Numba and Python there, or start the sweep again"
        )
    graph = _graph(task.request)
    if graph.content_hash != task.content_hash:
        raise WorkerError(
            f"graph {task.request.graph!r} on {host} differs from the one the sweep was started with: "
            "copy the same file there, or start the sweep again"
        )
    done = run_request(task.request, graph, Observer(), task.threads)
    result = done.as_dict()
    seconds = result.pop("host_seconds")  # the only thing that differs from run to run
    result.pop("machine")  # the ledger has a column for it
    result["answer_hash"] = hashlib.blake2b(done.values.tobytes(), digest_size=16).hexdigest()
    return Report(to_json(result), host, float(seconds))


def _graph(request: Request) -> Any:
    name = graph_key(request)
    if name in _graphs:
        _graphs.move_to_end(name)
        return _graphs[name]
    _graphs[name] = request.load()
    while len(_graphs) > _KEPT_GRAPHS:
        _graphs.popitem(last=False)
    return _graphs[name]
