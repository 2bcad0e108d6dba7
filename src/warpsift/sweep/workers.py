"""Where tasks run: processes of this computer, or the workers of a Dask cluster, behind one `Executor`.

A local worker is a fresh Python process (never a fork, since Numba and threads do not survive one) that reads tasks
from its standard input and ends when that closes, so that killing a sweep leaves no process behind.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import queue
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from pathlib import Path
from typing import IO, Any

from warpsift.errors import WarpsiftError
from warpsift.private_folder import guard_numba

# One task per worker is as parallel as we want it: libraries must not start threads of their own.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_LENGTH = struct.Struct("<Q")
RECONNECT_SECONDS = 10.0  # a scheduler that answers again within this time is the same cluster


class WorkerDied(WarpsiftError):
    """A worker process that ended in the middle of a task."""


class ClusterError(WarpsiftError):
    """A cluster that cannot be reached or used."""


def send(pipe: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (size,) = _LENGTH.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


def start_worker() -> subprocess.Popen[bytes]:
    """A process that imports what this one can, but never what lies in the working directory."""
    here = Path.cwd().resolve()
    paths = [path for path in sys.path if path and Path(path).resolve() != here]
    environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1")}
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([str(Path(__file__).parents[2]), *paths]))
    guard_numba(environment)
    command = [sys.executable, "-P", "-m", "warpsift.sweep.worker_process"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def why(exit_code: int) -> str:
    """An exit code in words."""
    if exit_code == -9:
        return "killed by signal 9, which is also how the system answers when memory runs out"
    if exit_code < 0:
        return f"killed by signal {-exit_code}"
    return f"ended with code {exit_code}"


class LocalPool(Executor):
    """N worker processes, each served by a thread; a worker that dies fails its own task only and is replaced."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None]
        self._tasks = queue.SimpleQueue()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._stopping = False
        self._threads = [threading.Thread(target=self._serve, args=(n,), daemon=True) for n in range(workers)]
        for thread in self._threads:
            thread.start()

    def slots(self) -> int:
        """How many tasks to have under way."""
        return self.workers

    def check(self) -> None:
        """A pool of processes here is always there."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if kwargs:
            raise TypeError("tasks take positional arguments only")
        future: Future[Any] = Future()
        self._tasks.put((future, fn, args))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers: after their tasks, or at once when `cancel_futures`."""
        self._stopping = self._stopping or cancel_futures
        for _ in self._threads:
            self._tasks.put(None)
        if cancel_futures:
            for process in list(self._processes.values()):
                with contextlib.suppress(OSError):
                    process.kill()
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self, number: int) -> None:
        while (item := self._tasks.get()) is not None:
            future, function, arguments = item
            if self._stopping or not future.set_running_or_notify_cancel():
                future.cancel()
                continue
            try:
                future.set_result(self._ask(number, function, arguments))
            except BaseException as error:  # a future must end, or its waiter never does
                future.set_exception(error)
        process = self._processes.pop(number, None)
        if process is not None:
            _end(process)

    def _ask(self, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        process = self._processes.get(number)
        if process is None or process.poll() is not None:
            process = self._processes[number] = start_worker()
        assert process.stdin is not None and process.stdout is not None
        try:
            send(process.stdin, (function, arguments))
            good, value = receive(process.stdout)
        except (EOFError, OSError) as error:
            del self._processes[number]
            process.kill()
            raise WorkerDied(f"the worker process was lost: {why(process.wait())}") from error
        if not good:
            raise value
        return value


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    process.wait()
    process.stdout.close()


def _knock(address: str) -> None:
    """Raise OSError at once where nobody listens: Dask itself would go on trying."""
    found = re.fullmatch(r"(?:(?:tcp|tls)://)?(\[[^]]+\]|[^:/]+):(\d+)", address)
    if address.endswith(".json"):
        Path(address).stat()
    elif found is not None:
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout=10).close()
    elif "://" not in address:
        raise ValueError("an address is HOST:PORT or PROTOCOL://HOST:PORT")


def _quiet(package: str) -> dict[logging.Logger, int]:
    """Let a package log nothing: Dask writes tracebacks of a lost scheduler, of which we say one line. What was set."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == package]
    levels = {logger: logger.level for logger in map(logging.getLogger, [package, *names])}
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    return levels


class DaskPool(Executor):
    """The workers of a Dask cluster; they may come and go. Dask itself repeats the task of a lost worker."""

    def __init__(self, address: str, timeout_seconds: float = 30.0) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ClusterError("--dask needs the package distributed: pip install 'warpsift[dask]'") from error
        where: dict[str, Any] = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
        self._address = address
        self._loud = {**_quiet("distributed"), **_quiet("tornado")}  # its loop tells of closed connections
        try:
            _knock(address)
            self._client = Client(**where, timeout=timeout_seconds, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address}: start one with 'dask scheduler' and give its address, "
                "such as tcp://127.0.0.1:8786, or its scheduler file"
            ) from error
        self._executor = self._client.get_executor(pure=False)

    def slots(self) -> int:
        """Two tasks per thread, so that none waits for this process between two; one while there is no worker."""
        self.check()
        with self._lost_is_said():
            return max(1, 2 * sum(self._client.nthreads().values()))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with self._lost_is_said():
            return self._executor.submit(fn, *args, **kwargs)

    def check(self) -> None:
        """Raise ClusterError if the scheduler is gone; wait a little for one that is just coming back."""
        deadline = time.monotonic() + RECONNECT_SECONDS
        while self._client.status != "running":
            with self._lost_is_said():
                _knock(self._address)  # at once, where nobody listens any more
            if self._client.status in ("closed", "closing") or time.monotonic() > deadline:
                raise self._lost()
            time.sleep(0.1)

    @contextlib.contextmanager
    def _lost_is_said(self) -> Iterator[None]:
        """Whatever Dask raises when its scheduler does not answer is one error."""
        try:
            yield
        except (OSError, TimeoutError, CancelledError, RuntimeError) as error:  # CommClosedError is an OSError
            raise self._lost() from error

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the Dask scheduler at {self._address} was lost; what had come back is kept: start it again and repeat "
            "the command"
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with contextlib.suppress(Exception):  # the scheduler may be gone already
            self._executor.shutdown(wait=False)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
        for logger, level in self._loud.items():
            logger.setLevel(level)
