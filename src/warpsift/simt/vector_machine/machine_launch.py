"""The vector machine of a GPU: its memory, and how a batch goes through it."""

from __future__ import annotations

import contextlib
from typing import NoReturn

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt.alu_classes import BESIDE, Program
from warpsift.simt.collectives import refuse_part_of_a_cta, refuse_shared_index
from warpsift.simt.global_memory import refuse_index
from warpsift.simt.memory import DeviceMemory
from warpsift.simt.recorder import Recorder
from warpsift.simt.scope import Batch
from warpsift.simt.threads import LONGEST_RUN
from warpsift.simt.vector_machine import execute_code
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine import run_records as r
from warpsift.simt.vector_machine.machine_entry import begin_batch, compiling, execute, is_compiled, know_program
from warpsift.simt.vector_machine.machine_log import MachineLog
from warpsift.simt.vector_machine.value_code import loaded
from warpsift.simt.vector_machine.warp_order import WORDS, words_of

FIRST_PROGRAMS = 1 << 13  # a power of two: for how many programs of ALU instructions there is room at first
NEEDS_BITS, NEED_BITS, CLASS_BITS = 3, 16, 5  # of an instruction in a program, as run_records writes it


class VectorMachine:
    def __init__(self, memory: DeviceMemory, recorder: Recorder) -> None:
        self._memory = memory.bytes
        self._recorder = recorder
        self._run = np.zeros(LONGEST_RUN + 16, np.int64)
        self._no_generator = np.zeros(WORDS, np.uint64)
        self._w = np.zeros(r.REGISTERS, np.int64)
        self._values = self._shared = np.zeros(0, np.int64)
        self._size = 0  # threads that it has room for
        self._make_room_for_programs(FIRST_PROGRAMS)

    # ------------------------------------------------------------------ a launch
    def load(self, kernel: i.TracedKernel, threads_per_cta: int, ctas: int) -> None:
        """Get ready for batches of up to so many CTAs of this kernel."""
        self._kernel, self._threads_per_cta = kernel, threads_per_cta
        size = ctas * threads_per_cta
        if size > self._size:
            self._size = size
            self._pool = np.zeros(r.LEVELS * size, np.uint32)
            self._pool[:size] = np.arange(size)
            self._first, self._order = np.zeros((2, size // WARP_SIZE + 2), np.int64)
            self._moved = np.zeros(size, np.int32)
            self._log = MachineLog(self._w, size, kernel.most_of_a_group)
            self._w[r.POOL_LEVEL] = size
        elif any(wanted > had for wanted, had in zip(kernel.most_of_a_group, self._log.most[1], strict=True)):
            self._log = MachineLog(self._w, self._size, kernel.most_of_a_group)
        if self._values.size < (kernel.slots + 1) * self._size:
            self._values = np.zeros((kernel.slots + 1) * self._size, np.int64)
        if self._shared.size < ctas * kernel.shared_words:
            self._shared = np.zeros(ctas * kernel.shared_words, np.int64)
        if self._w.size < r.REGISTERS + kernel.registers * r.REGISTER_WORDS:
            words, self._w = self._w, np.zeros(r.REGISTERS + 2 * kernel.registers * r.REGISTER_WORDS, np.int64)
            self._w[: words.size] = words
        self._stretches, self._stretch_places = loaded(kernel.stretches)
        for slot, value in kernel.constants:
            self._fill(slot, np.full(size, value))
        shape = np.arange(size)
        for name, numbers in (("lane", shape % WARP_SIZE), ("in_cta", shape % threads_per_cta)):
            if name in kernel.special:
                self._fill(kernel.special[name], numbers.astype(np.int32))
        self._learn_programs()

    def _fill(self, slot: int, values: np.ndarray) -> None:
        self._values[slot * self._size : (slot + 1) * self._size].view(values.dtype)[: values.size] = values

    def run(self, batch: Batch) -> None:
        """Run the kernel for a batch of CTAs."""
        kernel, ctas = self._kernel, batch.cta_numbers.size
        special = kernel.special
        if "id" in special:
            ids = batch.cta_numbers[:, None] * self._threads_per_cta + np.arange(self._threads_per_cta)
            self._fill(special["id"], ids.astype(np.int32).reshape(-1))
        if "cta" in special:
            self._fill(special["cta"], batch.cta_numbers.astype(np.int32)[batch.shape.cta])
        self._shared[: ctas * kernel.shared_words] = 0
        begin_batch(self._w, kernel.registers, batch.size)
        tables = (kernel.classes, kernel.arrays, kernel.shared, self._order, self._first, self._stretches)
        generator = words_of(batch.rng) if kernel.atomics else self._no_generator
        while True:
            rows, begins, warps, lanes, first, elements = self._log.buffers
            log = (rows, begins, (warps, lanes, first, batch.warp_numbers), elements, self._pool)
            host = self._host(ctas)
            with contextlib.nullcontext() if is_compiled() else compiling():
                stopped = execute(kernel.code, self._w, self._run, log, self._programs, host, tables, generator)
            if stopped == execute_code.DONE:
                return
            if stopped == execute_code.LOG_FULL:
                self.hand_on()
            elif stopped == execute_code.PROGRAMS_FULL:
                self._make_room_for_programs(4 * int(self._w[r.MOST_PROGRAMS]))
            else:
                self._refuse(stopped)

    def _host(self, ctas: int) -> np.ndarray:
        """Where everything lies, and what the batch is like: thread_levels.VALUES and so on."""
        threads, stride = self._threads_per_cta, 8 * self._size
        values, shared, pool, elements, moved = (
            each.ctypes.data
            for each in (self._values, self._shared, self._pool, self._log.buffers.elements, self._moved)
        )
        truth = values + self._kernel.slots * stride
        device, places = self._memory.ctypes.data, self._stretch_places.ctypes.data
        return np.array(
            [values, device, shared, pool, 4 * self._size, elements, moved, truth, stride, threads, ctas, places],
            np.int64,
        )

    def _refuse(self, stopped: int) -> NoReturn:
        row, wrong = self._kernel.code[self._w[r.PC] - 1], int(self._w[r.WRONG])
        if stopped == execute_code.PART_OF_A_CTA:
            refuse_part_of_a_cta(self._kernel.reached[wrong])
        if stopped == execute_code.OUTSIDE_SHARED:
            refuse_shared_index(wrong, int(self._kernel.shared[row[i.X], i.LENGTH]))
        refuse_index(self._kernel.names[row[i.X]], wrong, int(self._kernel.arrays[row[i.X], i.LENGTH]))

    # ------------------------------------------------------------------ the log
    def hand_on(self) -> None:
        """Give the recorder what is in the log."""
        self._tell_programs()
        if self._size and (log := self._log.hand_on(self._w)) is not None:
            self._recorder.keep(log)
            self._recorder.expect(self._size)

    def recycle(self) -> None:
        """The recorder is through with the wave."""
        if self._size:
            self._log.recycle()

    def forget(self) -> None:
        """Drop what a kernel has left that ended in an error."""
        if self._size:
            self._log.empty(self._w)

    # ------------------------------------------------------------------ programs
    def _make_room_for_programs(self, programs: int) -> None:
        room = execute_code.RUNS_AT_ONCE * (LONGEST_RUN + 8)
        words = np.zeros(room + 64 * programs, np.int64)
        before = getattr(self, "_programs", None)
        if before is not None and before[0].size > words.size // 2:
            words = np.zeros(2 * before[0].size, np.int64)
        self._programs = (words, np.zeros(programs + 2, np.int64), np.full(4 * programs, -1, np.int64))
        self._w[r.MOST_PROGRAMS], self._w[r.MOST_PROGRAM_WORDS] = programs, words.size
        self._w[r.TABLE_MASK] = 4 * programs - 1
        known = self._recorder.programs.known if before is None else self._tell_programs(before)
        self._w[r.PROGRAMS], self._w[r.PROGRAM_WORDS] = 1, 0  # number 0 says nothing
        current, count = self._run.copy(), self._w[r.COUNT]
        for program in known[1:]:
            know_program(self._w, self._run, self._programs, _encoded(program))
        self._run[:], self._w[r.COUNT] = current, count

    def _learn_programs(self) -> None:
        """Programs that the recorder has met elsewhere."""
        for program in self._recorder.programs.known[self._w[r.PROGRAMS] :]:
            know_program(self._w, self._run, self._programs, _encoded(program))

    def _tell_programs(self, kept: tuple[np.ndarray, ...] | None = None) -> tuple[Program, ...]:
        """Give the recorder the programs that it does not know yet; gives all."""
        words, starts, _ = kept or self._programs
        known = self._recorder.programs
        for number in range(len(known.known), int(self._w[r.PROGRAMS])):
            known.number(_decoded(words[starts[number] : starts[number + 1]].tolist()))
        return known.known


def _encoded(program: Program) -> np.ndarray:
    words = []
    for kind, *needs in program:
        beside = needs == [BESIDE]
        word = kind | (r.BESIDE if beside else len(needs)) << CLASS_BITS
        for place, need in enumerate(() if beside else needs):
            word |= need << (CLASS_BITS + NEEDS_BITS + NEED_BITS * place)
        words.append(word)
    return np.array(words, np.int64)


def _decoded(words: list[int]) -> Program:
    steps = []
    for word in words:
        kind, count = word & 31, word >> CLASS_BITS & 7
        places = (word >> (CLASS_BITS + NEEDS_BITS + NEED_BITS * k) & 0xFFFF for k in range(count))
        steps.append((kind, BESIDE) if count == r.BESIDE else (kind, *places))
    return tuple(steps)
