"""Kernels and the GPU that runs them.

    @kernel
    def scale(t, x, y, factor):
        t.store(y, t.id, t.load(x, t.id) * factor)

    gpu = Gpu()
    x = gpu.memory.array("x", np.arange(1000, dtype=np.float32))
    y = gpu.memory.empty("y", 1000, np.float32)
    gpu.launch(scale, 1000, x, y, 2.0, phase="scale")

A launch runs in waves of resident CTAs, and each wave becomes one `Chunk` of the stream. Within a wave, CTAs of a
kernel that races (one that reads what other CTAs of the launch write) run in a seeded order, `visibility_ctas` at a
time: a CTA sees the writes of those that ran before, not of those that run beside it. How many run beside it decides
how much duplicate work a best-effort algorithm does, so it follows from the machine (see `Residency`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

import numba
import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt.alu_classes import LOGIC, MAD
from warpsift.simt.collectives import CollectiveThreads
from warpsift.simt.kernel_check import check_kernel
from warpsift.simt.memory import DeviceArray, DeviceMemory
from warpsift.simt.recorder import Recorder
from warpsift.simt.registers import KernelError, NoSuchCallError
from warpsift.simt.scope import Batch
from warpsift.simt.stream import LaunchInfo, Sink
from warpsift.simt.vector_machine.instruction_set import TracedKernel
from warpsift.simt.vector_machine.machine_entry import is_compiled
from warpsift.simt.vector_machine.machine_launch import VectorMachine
from warpsift.simt.vector_machine.traced_registers import UntraceableError
from warpsift.simt.vector_machine.traced_threads import TracedThreads

JIT_ENABLED: bool = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
SMALLEST_TRACED = 512  # threads of a launch from which tracing its kernel costs less than it saves
PATIENCE_S = 1.0  # seconds that a process has run texts after which compiling the machine that runs traces is worth it
WAVE_THREADS_WITHOUT_RACES = 1 << 16  # only a matter of memory and speed: nothing observable depends on it


@dataclass(frozen=True)
class Residency:
    """How many threads the GPU holds at once, and how many of them work unseen by each other.

    A CTA reads the shared state (say, the visited bits) early and its writes show after its memory latency. Of the
    CTAs resident with it, those that read within that time do not see them: resident CTAs x (latency / life time of
    a CTA). A CTA of the frontier kernels lives for about `dependent_accesses` memory latencies one after the other,
    so that share is 1 / dependent_accesses.
    """

    sms: int = 16
    threads_per_sm: int = 2048
    dependent_accesses: int = 8  # contract: edge frontier, bitmask, label, culling, scan, reservation, store

    def resident_ctas(self, threads_per_cta: int) -> int:
        return max(1, self.sms * (self.threads_per_sm // threads_per_cta))

    def visibility_ctas(self, threads_per_cta: int) -> int:
        return max(1, self.resident_ctas(threads_per_cta) // self.dependent_accesses)


@dataclass(frozen=True)
class Kernel:
    function: Callable[..., None]
    guard: bool  # whether threads beyond the element count return at once
    races: bool
    code_bytes: int = 0  # machine code that a warp passes, where someone has compiled it

    @property
    def name(self) -> str:
        return self.function.__name__


def kernel(
    function: Callable[..., None] | None = None, *, guard: bool = True, races: bool = False, code_bytes: int = 0
) -> Any:
    """Mark a function of `(t, *arguments)` as a kernel."""

    def wrap(text: Callable[..., None]) -> Kernel:
        return Kernel(text, guard, races, code_bytes)

    return wrap(function) if function is not None else wrap


class Gpu:
    """Device memory, a place where launches go (`sink`), and the way CTAs are run."""

    seconds_by_text: ClassVar[float] = 0.0  # that this process has run kernels by their texts

    def __init__(
        self,
        sink: Sink,
        *,
        memory_bytes: int = 4 << 30,
        residency: Residency | None = None,
        visibility_ctas: int | None = None,
        seed: int = 1,
        unroll: int = 1,
    ) -> None:
        self.sink = sink
        self.unroll = unroll  # iterations of innermost loops that the compiler puts side by side (simt/unrolling.py)
        self.memory = DeviceMemory(memory_bytes)
        self.residency = residency or Residency()
        self.visibility_ctas = visibility_ctas  # None: as the residency says; 0: a whole wave
        self.on_progress: Callable[[float], None] | None = None
        self._seeds = np.random.default_rng(seed)
        self._recorder = Recorder()
        self.traces = (
            True  # whether kernels are traced where that pays (simt/vector_machine); their streams are the same
        )
        self._machine: VectorMachine | None = None
        self._untraceable: set[Callable[..., None]] = set()
        self.threads: type[CollectiveThreads] = CollectiveThreads
        self.bindings: dict[str, Any] = {}

    def extend(self, vocabulary: type[CollectiveThreads]) -> None:
        """Give kernels the instructions of a special unit: a subclass of `CollectiveThreads` with its methods."""
        if not issubclass(self.threads, vocabulary):
            bases = (vocabulary,) if self.threads is CollectiveThreads else (vocabulary, self.threads)
            self.threads = bases[0] if len(bases) == 1 else type("Threads", bases, {})

    def bind(self, unit: str, binding: Any) -> None:
        """Set what the commands to a unit work on, for the launches that follow; None: nothing any more."""
        self.bindings = {name: bound for name, bound in {**self.bindings, unit: binding}.items() if bound is not None}

    def progressed(self, share: float) -> None:
        """A driver tells how much of its work is done, roughly, from 0 to 1."""
        if self.on_progress is not None:
            self.on_progress(min(max(share, 0.0), 1.0))

    def launch(
        self,
        kernel: Kernel,
        threads: int,
        *arguments: Any,
        phase: str,
        compaction: bool = False,
        threads_per_cta: int = 256,
        shared_bytes: int = 0,
    ) -> None:
        """Run a kernel on `threads` threads and hand its stream to the sink. No threads: no launch.

        `shared_bytes` is taken from each CTA's shared memory beside what the kernel itself reserves.
        """
        _check_call(kernel, arguments)
        if threads_per_cta % WARP_SIZE or not 0 < threads_per_cta <= 1024:
            raise KernelError(f"threads_per_cta must be a multiple of 32 up to 1024, not {threads_per_cta}")
        if threads <= 0:
            return
        ctas = -(-threads // threads_per_cta)
        begun = False
        self._recorder.forget()  # what a kernel left that ended in an error
        if self._machine is not None:
            self._machine.forget()
        run_batch = self._how(kernel, threads, arguments, (threads_per_cta, shared_bytes))
        for first, last in self._waves(kernel, ctas, threads_per_cta):
            cta_shared_bytes = self._run_wave(kernel, (first, last), threads_per_cta, run_batch)
            if not begun:  # only now is it known how much shared memory a CTA takes
                self.sink.begin(
                    LaunchInfo(
                        kernel.name,
                        phase,
                        compaction,
                        ctas,
                        threads_per_cta,
                        cta_shared_bytes,
                        tuple(a.name for a in self.memory.arrays),
                        tuple(a.itemsize for a in self.memory.arrays),
                        self.bindings,
                        code_bytes=kernel.code_bytes,
                    )
                )
                begun = True
            warps = (last - first) * (threads_per_cta // WARP_SIZE)
            chunk = self._recorder.finish(warps, last - first)
            if self._machine is not None:
                self._machine.recycle()
            self.sink.chunk(chunk)
        self.sink.end()

    def _waves(self, kernel: Kernel, ctas: int, threads_per_cta: int) -> list[tuple[int, int]]:
        size = self.residency.resident_ctas(threads_per_cta)
        if not kernel.races:
            size = max(size, WAVE_THREADS_WITHOUT_RACES // threads_per_cta)
        return [(first, min(first + size, ctas)) for first in range(0, ctas, size)]

    def _batch_size(self, kernel: Kernel, threads_per_cta: int) -> int:
        """CTAs that run together; 0: all of a wave."""
        if not kernel.races:
            return 0
        chosen = self.visibility_ctas
        return self.residency.visibility_ctas(threads_per_cta) if chosen is None else chosen

    def _run_wave(
        self, kernel: Kernel, wave: tuple[int, int], threads_per_cta: int, run_batch: Callable[[Batch], int]
    ) -> int:
        """Run the CTAs of one wave, batch by batch; gives the shared memory a CTA takes."""
        first, last = wave
        places = np.arange(last - first)
        if kernel.races:
            places = self._seeds.permutation(places)
        batch_size = self._batch_size(kernel, threads_per_cta) or len(places)
        shared_bytes = 0
        for start in range(0, len(places), batch_size):
            together = np.sort(places[start : start + batch_size])
            seed = int(self._seeds.integers(1 << 62))
            shared_bytes = max(shared_bytes, run_batch(Batch(first + together, together, threads_per_cta, seed)))
        if self._machine is not None:
            self._machine.hand_on()
        return shared_bytes

    def _how(
        self, kernel: Kernel, threads: int, arguments: tuple[Any, ...], shape: tuple[int, int]
    ) -> Callable[[Batch], int]:
        """How a batch of this launch is run: by its code, if its text can be traced, or by its text."""
        threads_per_cta, reserved_bytes = shape

        def by_its_text(batch: Batch) -> int:
            begun = time.perf_counter()
            t = self.threads(batch, self._recorder)
            shared_bytes = self._run_text(t, kernel, threads, arguments, reserved_bytes)
            Gpu.seconds_by_text += time.perf_counter() - begun
            return shared_bytes

        traced = self._traced(kernel, threads, arguments, shape)
        if traced is None:
            return by_its_text
        if self._machine is None:
            self._machine = VectorMachine(self.memory, self._recorder)
        machine = self._machine
        waves = self._waves(kernel, -(-threads // threads_per_cta), threads_per_cta)
        widest = max(last - first for first, last in waves)
        machine.load(traced, threads_per_cta, min(self._batch_size(kernel, threads_per_cta) or widest, widest))

        def by_its_code(batch: Batch) -> int:
            machine.run(batch)
            return traced.shared_bytes

        return by_its_code

    def _traced(
        self, kernel: Kernel, threads: int, arguments: tuple[Any, ...], shape: tuple[int, int]
    ) -> TracedKernel | None:
        """The kernel written down for this launch, where that is possible and pays."""
        threads_per_cta, reserved_bytes = shape
        known = self.traces and JIT_ENABLED and self.threads is CollectiveThreads and type(self._recorder) is Recorder
        pays = threads >= SMALLEST_TRACED and (is_compiled() or Gpu.seconds_by_text > PATIENCE_S)
        if not known or not pays or kernel.function in self._untraceable:
            return None
        t = TracedThreads(threads_per_cta)
        try:
            self._run_text(t, kernel, threads, arguments, reserved_bytes)
            return t.trace.finished(t.shared_bytes)
        except UntraceableError:
            self._untraceable.add(kernel.function)
        except Exception:  # the text itself is wrong: running it says how
            pass
        return None

    def _run_text(
        self, t: CollectiveThreads, kernel: Kernel, threads: int, arguments: tuple[Any, ...], reserved_bytes: int
    ) -> int:
        """Run a kernel's text; gives the shared memory that a CTA takes."""
        t.shared_bytes = reserved_bytes
        t.unroll = self.unroll
        t.bindings = self.bindings
        self.memory.running = kernel.name
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a GPU does not say so either
                self._prologue(t, kernel, threads, arguments)
                kernel.function(t, *arguments)
                t.finish()
        except AttributeError as error:
            if error.obj is t:  # no `__getattr__` says it: with one, Python looks every attribute up the long way
                raise NoSuchCallError(
                    f"t.{error.name}: kernels have no such call; a special unit adds its calls when its arrays "
                    "are bound, before the launch"
                ) from None
            raise
        finally:
            self.memory.running = None
        return t.shared_bytes

    @staticmethod
    def _prologue(t: CollectiveThreads, kernel: Kernel, threads: int, arguments: tuple[Any, ...]) -> None:
        """What every PTX kernel begins with: parameters, pointer conversion, the thread's number, the guard."""
        scalars, pointers = _parameters(arguments)
        t.spend(scalars + 2 * pointers, chained=False, classes=(LOGIC,))  # ld.param for each, cvta for pointers
        t.spend(4, classes=(LOGIC, LOGIC, LOGIC, MAD))  # mov ctaid, ntid, tid; mad
        if kernel.guard:
            t.spend(1, chained=False, classes=(LOGIC,))  # ld.param of the element count
            t.exit_where(t.id >= threads)


def _check_call(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """What is launched is a kernel, its text jumps nowhere, and what it is given lies on the device."""
    if not isinstance(kernel, Kernel):
        name = getattr(kernel, "__name__", repr(kernel))
        raise KernelError(f"{name} is not a kernel: write '@warpsift.kernel' in the line above its 'def'")
    check_kernel(kernel.function)
    for number, argument in enumerate(arguments, 1):
        if isinstance(argument, np.ndarray) and argument.ndim:
            raise KernelError(
                f"argument {number} of kernel '{kernel.name}' is a NumPy array, which lies on the host: copy it first, "
                "x = gpu.memory.array('x', values), and give x"
            )


def _parameters(arguments: tuple[Any, ...]) -> tuple[int, int]:
    """Scalars and pointers among a kernel's arguments, inside tuples and dataclasses too; None is not passed."""
    scalars = pointers = 0
    for argument in arguments:
        if isinstance(argument, DeviceArray):
            pointers += 1
        elif isinstance(argument, tuple):
            inner = _parameters(argument)
            scalars, pointers = scalars + inner[0], pointers + inner[1]
        elif is_dataclass(argument):
            inner = _parameters(tuple(getattr(argument, f.name) for f in fields(argument)))
            pointers += inner[1]  # its plain values choose the kernel's text, as C++ template parameters do
        elif argument is not None and not isinstance(argument, bool):
            scalars += 1
    return scalars, pointers
