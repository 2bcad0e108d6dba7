"""Pools: worker processes that die, the same results from any number of workers, and a real Dask cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from support import pool_tasks
from support.places import DOCS, ROOT
from support.sweeping import outcome, points, requests
from warpsift.run.request import make_request
from warpsift.store.store import Store
from warpsift.sweep import SweepOptions, plan, run_sweep
from warpsift.sweep.sweep_progress import SweepProgress
from warpsift.sweep.sweep_run import run_points
from warpsift.sweep.work import Task, execute
from warpsift.sweep.workers import ClusterError, DaskPool, LocalPool, WorkerDied


@pytest.fixture(scope="module")
def pool():
    running = LocalPool(2)
    yield running
    running.shutdown(wait=True, cancel_futures=True)


def test_answers_come_back(pool):
    futures = [pool.submit(pool_tasks.square, number) for number in range(20)]
    assert [future.result(60) for future in futures] == [number * number for number in range(20)]


def test_printing_does_not_come_between_answers(pool):
    assert pool.submit(pool_tasks.chatter, "hello").result(60) == "hello"


def test_errors_come_back(pool):
    with pytest.raises(ValueError, match="no such thing"):
        pool.submit(pool_tasks.refuse, "no such thing").result(60)


def test_a_worker_that_dies_fails_its_own_task_only(pool):
    dead = pool.submit(pool_tasks.die)
    others = [pool.submit(pool_tasks.square, number) for number in range(4)]
    with pytest.raises(WorkerDied) as problem:
        dead.result(60)
    assert str(problem.value) == (
        "the worker process was lost: killed by signal 9, which is also how the system answers when memory runs out"
    )
    assert [future.result(60) for future in others] == [0, 1, 4, 9]
    with pytest.raises(WorkerDied, match="ended with code 3"):
        pool.submit(pool_tasks.leave, 3).result(60)
    assert pool.submit(pool_tasks.square, 5).result(60) == 25


class Murderous(LocalPool):
    """Kills the worker of every task with seed 1."""

    def submit(self, fn, /, *args, **kwargs):
        if isinstance(args[0], Task) and args[0].request.options.seed == 1:
            return super().submit(pool_tasks.die)
        return super().submit(fn, *args)


def test_a_point_that_kills_its_worker_twice_is_recorded_and_the_rest_goes_on(tmp_path):
    pool = Murderous(1)
    with Store(tmp_path / "runs.db") as ledger:
        run_points(points(3), ledger, pool, SweepProgress(enabled=False))
        by_seed = {record.request["options"]["seed"]: record for record in ledger.records()}
    pool.shutdown()
    assert {seed: record.status for seed, record in by_seed.items()} == {1: "failed", 2: "done", 3: "done"}
    assert by_seed[1].error_kind == "WorkerDied" and by_seed[1].error.endswith("memory runs out (2 times)")


def test_a_worker_refuses_other_sources_and_other_graphs():
    (request,) = requests(1)
    (point,) = points(1)
    other = execute(Task(request, point.graph["content_hash"], "0123"))
    assert other.result is None and other.error_kind == "WorkerError"
    assert "are not those the sweep was started with (0123)" in other.error
    other = execute(Task(request, "another content", point.version))
    assert "graph 'grid-5x5' on" in other.error and "differs from the one the sweep was started with" in other.error


MIXED = [make_request(a, g, {"seed": s}) for g in ("kron-8", "delaunay-8") for a in ("bfs", "sssp") for s in (1, 2)]


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    """Counted, and timed on a modelled GPU."""
    timed = {"gpu": "gtx480-gpgpusim4", "overrides": {"sm.count": 2}}
    wanted = [*MIXED, *(make_request("bfs", "grid-6x6", timed | {"seed": seed}) for seed in (1, 2))]
    one = run_sweep(wanted, tmp_path / "one.db", SweepOptions(workers=1, quiet=True))
    two = run_sweep(wanted, tmp_path / "two.db", SweepOptions(workers=2, quiet=True))
    assert [outcome(record) for record in one] == [outcome(record) for record in two]
    assert all(record.status == "done" and record.result["check"] == "pass" for record in one)
    assert one[wanted[-1]].result["cycles"] > 0


def test_everything_is_compiled_before_the_workers_start(monkeypatch):
    """One smallest run for each kind of point, and a point that cannot run does not stop it."""
    from warpsift.run import execute as api
    from warpsift.sweep import sweep_run as sweeping_run

    ran = []
    real = api.run_request

    def watched(request, graph, observer):
        ran.append((request.algorithm, request.style, request.unit, request.gpu, graph.nodes))
        return real(request, graph, observer)

    monkeypatch.setattr(api, "run_request", watched)
    wanted = [make_request("bfs", "kron-8", {"seed": seed, "source": 200}) for seed in (1, 2)]
    wanted += [make_request("bfs", "kron-8", {"style": "vertex", "source": 9999})]
    wanted += [make_request("sssp", "kron-8", {"gpu": "tx1", "unit": "scu"})]
    sweeping_run.compile_for(plan(wanted), SweepProgress(enabled=False))
    assert ran == [
        ("bfs", "frontier", "none", None, 9),
        ("bfs", "vertex", "none", None, 9),
        ("sssp", "frontier", "scu", "tx1", 9),
    ]


# Dask.


def dask(*words: object, log: Path) -> subprocess.Popen:
    paths = [str(ROOT / "src"), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    with log.open("w") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *map(str, words)], stdout=file, stderr=file, env=environment
        )


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers of one thread each, as processes of this computer."""
    pytest.importorskip("distributed", reason="no Dask here: pip install 'warpsift[dask]'")
    card = tmp_path / "scheduler.json"
    started = [
        dask(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            0,
            "--no-dashboard",
            "--scheduler-file",
            card,
            log=tmp_path / "s",
        )
    ]
    for name in ("w1", "w2"):
        words = ("worker", "--scheduler-file", card, "--nthreads", 1, "--no-nanny", "--no-dashboard", "--name", name)
        words += ("--host", "127.0.0.1", "--local-directory", tmp_path / name)
        started.append(dask(*words, log=tmp_path / f"{name}.log"))
    import json

    from distributed import Client

    deadline = time.monotonic() + 60
    while not card.exists():
        assert time.monotonic() < deadline and started[0].poll() is None, (tmp_path / "s").read_text()
        time.sleep(0.1)
    time.sleep(0.2)
    address = json.loads(card.read_text())["address"]
    with Client(address, timeout=600, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=600)
    yield address, started[1:]
    for process in started:
        process.kill()
        process.wait()


def test_a_dask_cluster_that_loses_a_worker_in_the_middle(cluster, tmp_path):
    """Every point finishes, once, with the results of a local run."""
    address, workers = cluster
    wanted = [*MIXED, *(make_request("pagerank", "kron-7", {"seed": s, "epsilon": 1e-6}) for s in range(1, 7))]
    store = tmp_path / "dask.db"
    Store(store).close()
    killed = []

    def kill_one() -> None:
        """When some points are done and others under way."""
        while not killed:
            with Store(store, readonly=True) as ledger:
                statuses = list(ledger.statuses().values())
            if statuses.count("done") >= 2 and "claimed" in statuses:
                workers[0].send_signal(signal.SIGKILL)
                killed.append(len(wanted) - statuses.count("done"))
            time.sleep(0.02)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    far = run_sweep(wanted, store, SweepOptions(dask=address, quiet=True))
    killer.join(timeout=600)
    assert killed and killed[0] > 0 and workers[0].wait(10) == -signal.SIGKILL
    near = run_sweep(wanted, tmp_path / "local.db", SweepOptions(workers=2, quiet=True))
    assert len(far) == len(wanted) and not far.failed
    assert [outcome(record) for record in far] == [outcome(record) for record in near]


def slurm_example() -> str:
    """The lines of docs/sweeps.md that make a cluster of Slurm jobs."""
    text = (DOCS / "sweeps.md").read_text()
    lines = text.split('if __name__ == "__main__":\n')[1].split("```")[0]
    return textwrap.dedent(lines)


def test_the_documented_cluster_is_one_that_dask_jobqueue_makes():
    jobqueue = pytest.importorskip("dask_jobqueue", reason="no dask-jobqueue here: pip install dask-jobqueue")
    making = slurm_example().split("print(")[0]
    known: dict = {"SLURMCluster": jobqueue.SLURMCluster}
    exec(making, known)
    script = known["cluster"].job_script()
    known["cluster"].close()
    for words in ("#SBATCH -p compute", "--cpus-per-task=16", "--nworkers 16", "--nthreads 1", "#SBATCH --exclusive"):
        assert words in script


def test_the_documented_cluster_runs_a_sweep(tmp_path, monkeypatch):
    """The same lines with Dask's own cluster of local processes in the place of Slurm's."""
    distributed = pytest.importorskip("distributed", reason="no Dask here: pip install 'warpsift[dask]'")
    from warpsift.sweep import read_sweep

    class Local(distributed.LocalCluster):
        def __init__(self, cores: int, processes: int, **asked: object) -> None:
            super().__init__(n_workers=0, threads_per_worker=cores // processes, dashboard_address=None)

        def job_script(self) -> str:
            return ""

        def scale(self, n: int = 0, jobs: int = 0) -> object:
            return super().scale(min(jobs, 2) or n)

    monkeypatch.chdir(tmp_path)
    Path("l2.toml").write_text('[[grid]]\nalgorithm = "bfs"\ngraph = "grid-5x5"\nseed = [1, 2, 3]\n')
    known: dict = {
        "SLURMCluster": Local,
        "run_sweep": run_sweep,
        "read_sweep": read_sweep,
        "SweepOptions": SweepOptions,
    }
    exec(slurm_example(), known)
    known["cluster"].close()
    with Store("l2.db", readonly=True) as ledger:
        assert list(ledger.statuses().values()) == ["done"] * 3


@pytest.mark.parametrize("address", ["127.0.0.1:1", "tcp://127.0.0.1:1", "nowhere", "no-such-file.json"])
def test_no_scheduler_is_a_clear_error(address):
    pytest.importorskip("distributed", reason="no Dask here: pip install 'warpsift[dask]'")
    with pytest.raises(ClusterError) as problem:
        DaskPool(address)
    assert str(problem.value) == (
        f"no Dask scheduler answers at {address}: start one with 'dask scheduler' and give its address, "
        "such as tcp://127.0.0.1:8786, or its scheduler file"
    )
