"""A real Dask cluster of processes on this computer, whose parts can be killed and started again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WORKER_OPTIONS = ("--nthreads", 1, "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")


class Cluster:
    """A scheduler on a port of its own, and workers of one thread each."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.scheduler: subprocess.Popen | None = None
        self.workers: list[subprocess.Popen] = []
        self._wanted = workers
        self._started = 0

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start what is not running, and wait until the workers are there."""
        from distributed import Client

        if self.scheduler is None or self.scheduler.poll() is not None:
            self.scheduler = self._dask("scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard")
            self._end(self.workers)  # they belong to the scheduler that is gone
            self.workers = []
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < self._wanted:
            place = ("--local-directory", self._folder / f"worker{self._started}")
            self.workers.append(self._dask("worker", self.address, *WORKER_OPTIONS, *place))
        with Client(self.address, timeout=600, set_as_default=False) as client:
            client.wait_for_workers(self._wanted, timeout=600)

    def kill_scheduler(self) -> None:
        assert self.scheduler is not None
        self._end([self.scheduler])

    def kill_worker(self) -> None:
        self._end([self.workers.pop(0)])

    def stop(self) -> None:
        self._end([*self.workers, *([self.scheduler] if self.scheduler else [])])

    def _dask(self, *words: Any) -> subprocess.Popen:
        paths = [str(Path(__file__).parents[2] / "src"), *filter(None, sys.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        self._started += 1
        with (self._folder / f"dask{self._started}.log").open("w") as log:
            command = [sys.executable, "-m", "dask", *map(str, words)]
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    @staticmethod
    def _end(processes: list[subprocess.Popen]) -> None:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def wait_until(condition, seconds: float = 120.0) -> None:
    """Look every 20 ms whether something has come about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not come about"
        time.sleep(0.02)
