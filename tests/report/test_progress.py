"""Lines of progress: what they name, that compiling does not write into them, and estimates that do not jump."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest

import warpsift
from warpsift.engine.core import compiled_code
from warpsift.remaining_time import RemainingTime, in_words
from warpsift.report import progress as progress_module
from warpsift.report.progress import Progress
from warpsift.run.request import make_request
from warpsift.sweep.sweep_estimate import SweepEstimate, weight
from warpsift.sweep.sweep_progress import SweepProgress, point_name
from warpsift.watching import watcher, watching


def shares_of_a_search(seconds: float) -> float:
    """A frontier that grows exponentially and dies out: most of the work lies in the middle of 60 seconds."""
    return 1 / (1 + math.exp(-(seconds - 30) / 3))


def plain_estimate(seconds: float, share: float) -> float:
    return seconds * (1 - share) / share


def jumps(estimates: list[tuple[float, float | None]]) -> float:
    """The largest factor between two shown estimates in a row, the time that passed between them aside."""
    shown = [(t, e) for t, e in estimates if e]
    factors = [now / max(then - (t2 - t1), 1.0) for (t1, then), (t2, now) in pairwise(shown)]
    return max(max(f, 1 / f) for f in factors)


def test_an_estimate_does_not_jump():
    times = [k / 5 for k in range(5, 290)]
    naive = [(t, plain_estimate(t, s)) for t in times if (s := shares_of_a_search(t)) > 0.0001]
    assert naive[0][1] / naive[-1][1] > 80
    remaining = RemainingTime()
    ours = [(t, remaining.update(t, shares_of_a_search(t))) for t in times]
    assert jumps(ours) < 1.5
    assert ours[0][1] is None  # nothing is said of the first thousandths
    first = next((t, e) for t, e in ours if e)
    assert 1 / 4 < (60 - first[0]) / first[1] < 4


def test_an_even_pace_is_estimated_well():
    remaining = RemainingTime()
    last = None
    for k in range(1, 51):
        last = remaining.update(float(k), k / 100)
    assert last == pytest.approx(50, rel=0.05)
    assert remaining.update(100.0, 1.0) == 0.0


def test_estimates_in_words():
    assert [in_words(s) for s in (0.2, 42.4, 600, 9000)] == ["1 s", "42 s", "10 min", "2.5 h"]


# ---- one run ----------------------------------------------------------------------------------------------------


def test_the_line_names_algorithm_graph_unit_and_machine(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress_module, "LOG_SECONDS", 0.0)
    with Progress("anything") as progress:
        from warpsift.run.execute import Observer

        observer = Observer(lambda phase, launch: progress.note(f"launch {launch} ({phase})"), progress.share)
        warpsift.simulate("bfs", "grid-3x3", unit="scu", source=0, observer=observer)
    assert "bfs on grid-3x3 with scu: launch " in capsys.readouterr().err
    assert watcher() is None


def test_every_run_of_a_comparison_begins_anew():
    progress = Progress("compare")
    progress.note("launch 1")
    progress.share(1.0)
    assert "about 100 % done" in progress.line(time.monotonic() + 9)
    progress.running("bfs on kron-14 with scu, gtx980")
    line = progress.line(time.monotonic())
    assert line.startswith("bfs on kron-14 with scu, gtx980: ") and "done" not in line


def test_compiling_tells_the_line_and_prints_no_dots(capsys):
    told = []
    watches = SimpleNamespace(compiling=lambda *what: told.append(what), running=lambda what: None)
    with watching(watches), compiled_code.compiling("the engine") as step:
        for _ in range(25):
            step()
    assert told == [*(("the engine", k) for k in range(1, 26)), ("the engine", 0)]
    assert capsys.readouterr().err == ""


def test_compiling_without_a_line_prints_dots_as_before(capsys):
    with compiled_code.compiling("the engine") as step:
        for _ in range(25):
            step()
    assert capsys.readouterr().err.startswith("warpsift: compiling the engine (once) .. 25 functions, ")


def test_time_spent_compiling_is_not_estimated_with():
    progress = Progress("bfs on kron-14")
    progress._run_start -= 100.0
    progress._compiling = ("compiling", time.monotonic() - 100.0)
    progress.compiling("the engine", 0)
    assert time.monotonic() - progress._run_start == pytest.approx(0.0, abs=0.5)


# ---- sweeps -----------------------------------------------------------------------------------------------------


def point(algorithm: str, edges: int, unit: str = "none", **overrides):
    request = make_request(algorithm, f"g{edges}", {"gpu": "gtx480", "unit": unit, "overrides": overrides})
    return SimpleNamespace(request=request, graph={"name": f"g{edges}", "edges": edges})


def test_a_point_is_named_by_what_tells_it_apart():
    one = point("bfs", 100, "scu", **{"l2.ways": 8})
    assert point_name(one) == "bfs on g100 with scu, gtx480, l2.ways=8"


def test_kinds_of_points_are_learnt_apart():
    """PageRank takes fifty times as long per arc: after one point of each the rest is known."""
    todo = [point(a, 100_000) for a in ("bfs", "pagerank") for _ in range(4)]
    estimate = SweepEstimate(todo)
    estimate.finished(todo[0], 1.0)
    assert estimate.share == pytest.approx(1 / 8)
    estimate.finished(todo[4], 50.0)
    assert estimate.share == pytest.approx(51 / 204)


def test_the_estimate_of_a_sweep_does_not_jump():
    """Small graphs first, large ones last, two kinds in turn, one of them slow."""
    todo = [point(a, edges) for edges in (1000, 30_000, 1_000_000) for _ in range(10) for a in ("bfs", "pagerank")]
    estimate = SweepEstimate(todo)
    clock, shown = 0.0, []
    for each in todo:
        seconds = weight(each) * (2e-7 if each.request.algorithm == "bfs" else 4e-6) + 0.3
        clock += seconds
        estimate.finished(each, seconds)
        shown.append((clock, estimate.left(clock)))
    assert jumps(shown[:-1]) < 3
    assert shown[-1][1] == 0.0


def test_a_log_names_the_point(monkeypatch, capsys):
    monkeypatch.setattr("warpsift.sweep.sweep_progress.LOG_SECONDS", -1.0)
    with SweepProgress() as progress:
        todo = [point("bfs", 100, "scu"), point("bfs", 200, "scu")]
        progress.compiling("the timing engine", 1)
        progress.compiling("the timing engine", 2)
        progress.compiling("the timing engine", 0)
        progress.start(todo, todo)
        progress.finished(todo[0], "done", seconds=1.0)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "warpsift: compiling the timing engine (once)"
    assert lines[1].startswith("sweep: bfs on g100 with scu, gtx480 finished, 1 of 2 points, 0 s")
