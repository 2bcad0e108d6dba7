"""Sweeps under attack: kill -9 at random moments, two on one store, a full disk, a Dask cluster that loses its parts.

    make torture                               100 kills and 2000 odd machines
    make torture TRIES=10 MACHINES=200         fewer

Nothing is lost, nothing is done twice but what was in flight, and the tables equal those of an undisturbed run.
"""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

import pytest
from lab import POINTS, TRIES, Lab, assert_nothing_lost_or_repeated, in_flight, say, session_is_empty, table

from support.dask_cluster import Cluster, wait_until

LATEST_KILL_SECONDS = 6.0  # from the imports to the middle of the points


@pytest.fixture
def lab(tmp_path):
    made = Lab(tmp_path)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The table of a sweep that nobody disturbed; it also fills the cache of compiled code."""
    lab = Lab(tmp_path_factory.mktemp("undisturbed"))
    store = lab.store(lab.folder / "s.db")
    lab.finish(store, "--workers", 2)
    assert_nothing_lost_or_repeated(store, 0)
    return table(store)


def test_kill_9_of_the_command_and_of_workers(lab, undisturbed):
    """Of the tries, two thirds hit the command, the others one of its workers."""
    store, lost, done = lab.store(lab.folder / "s.db"), 0, 0
    for number in range(TRIES):
        what = "worker" if number % 3 == 2 else "command"
        process = lab.start(store, "--workers", 2)
        lab.kill_one(process, what, lab.dice.uniform(0.0, LATEST_KILL_SECONDS))
        if what == "command":
            process.wait()
            wait_until(lambda process=process: session_is_empty(process), 60)  # its workers end by themselves
            lost += in_flight(store)
        else:
            process.communicate(timeout=1800)  # goes on with another worker
        process.stderr.close()
        if len(table(store)) == POINTS:  # all done: begin again
            assert table(store) == undisturbed
            assert_nothing_lost_or_repeated(store, lost)
            done += 1
            store, lost = lab.store(lab.folder / f"s{number}.db"), 0
    lab.finish(store, "--workers", 2)
    assert table(store) == undisturbed
    say(f"{TRIES} kills, {done} sweeps ended under them; {assert_nothing_lost_or_repeated(store, lost)}")


def test_two_sweeps_on_one_store_of_which_one_is_killed(lab, undisturbed):
    for number in range(max(2, TRIES // 20)):
        store = lab.store(lab.folder / f"s{number}.db")
        one, two = lab.start(store, "--workers", 1), lab.start(store, "--workers", 1)
        wait_until(lambda store=store: len(table(store)) >= lab.dice.randrange(1, 40))
        before = in_flight(store)
        one.kill()
        one.wait()
        _, said = two.communicate(timeout=1800)  # takes over what the other had claimed
        assert two.returncode == 0, said
        assert table(store) == undisturbed
        say(assert_nothing_lost_or_repeated(store, before + 2))  # the two may have claimed another meanwhile


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 400 KiB that can grow, or None where only root may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", place], capture_output=True)
    yield place if made.returncode == 0 else None
    if made.returncode == 0:
        subprocess.run(["umount", "-l", place], check=True)


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))


def test_a_full_disk(lab, undisturbed, small_disk):
    """The sweep ends with a word and code 2; with more room the same command finishes."""
    folder: Path = small_disk or lab.folder
    store = lab.store(folder / "s.db")
    process = lab.start(store, "--workers", 2, preexec_fn=None if small_disk else small_files)
    _, said = process.communicate(timeout=1800)
    assert process.returncode == 2 and "Traceback" not in said, said
    assert "is full" in said or not small_disk, said
    before = in_flight(store)
    if small_disk:
        subprocess.run(["mount", "-o", "remount,size=50m", small_disk], check=True)
    kept = len(table(store))
    assert kept < POINTS
    lab.finish(store, "--workers", 2)
    assert table(store) == undisturbed
    # Up to two finished runs could not be written down: they were in flight, and are run again.
    say(f"{kept} points fit; {assert_nothing_lost_or_repeated(store, before + 2)}")


def test_a_dask_cluster_loses_scheduler_and_workers(lab, undisturbed, tmp_path):
    pytest.importorskip("distributed", reason="no Dask here: pip install 'warpsift[dask]'")
    store, lost = lab.store(lab.folder / "s.db"), 0
    cluster = Cluster(tmp_path)
    try:
        for number in range(max(2, TRIES // 20)):
            cluster.start()
            process = lab.start(store, "--dask", cluster.address)
            enough = len(table(store)) + lab.dice.randrange(1, 20)
            wait_until(lambda: len(table(store)) >= min(enough, POINTS) or process.poll() is not None, 300)  # noqa: B023
            if number % 2:
                cluster.kill_worker()
                cluster.start()  # another takes its place; Dask repeats its task
                enough += 10
                wait_until(lambda: len(table(store)) >= min(enough, POINTS) or process.poll() is not None, 300)  # noqa: B023
            lost += in_flight(store) + 4  # slots of the cluster: claimed between this look and the kill
            cluster.kill_scheduler()
            _, said = process.communicate(timeout=300)
            assert process.returncode in (0, 2) and "Traceback" not in said, said
            assert process.returncode == 0 or "was lost; what had come back is kept" in said
        cluster.start()
        lab.finish(store, "--dask", cluster.address)
    finally:
        cluster.stop()
    assert table(store) == undisturbed
    say(assert_nothing_lost_or_repeated(store, lost))
