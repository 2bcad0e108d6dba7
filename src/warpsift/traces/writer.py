"""Writing launches as kernel traces that Accel-Sim reads (`kernelslist.g`, `kernel-N.traceg`, tracer version 5).

    with TraceWriter("traces") as writer:
        run_kernels(sink=writer)

The folder appears when all is written; an error or an interruption leaves nothing behind.
"""

from __future__ import annotations

import lzma
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, cast

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt.stream import COMMAND, Chunk, LaunchInfo, UnitOperation
from warpsift.traces import spell
from warpsift.traces.trace_errors import TraceError

# Versions that Accel-Sim knows (gpu-simulator/ISA_Def, *_BINART_VERSION) and that have the instructions of spell.py.
BINARY_VERSIONS = (60, 61, 70, 75, 80, 86, 90)
VOLTA = 70  # what most of its shipped configurations expect
# Windows of shared and local memory in generic addresses: anywhere but at 0, since no exported access is generic.
SHARED_BASE, LOCAL_BASE = 0x00007F0000000000, 0x00007F0002000000

_HEADER = """-kernel name = {kernel}
-kernel id = {number}
-grid dim = ({ctas},1,1)
-block dim = ({threads},1,1)
-shmem = {shared}
-nregs = {registers}
-binary version = {binary}
-cuda stream id = 0
-shmem base_addr = 0x{shared_base:016x}
-local mem base_addr = 0x{local_base:016x}
-nvbit version = 1.7.4
-accelsim tracer version = 5
-enable lineinfo = 0
-warpsift phase = {phase}
-warpsift compaction = {compaction}

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] \
[mem_addresses] immediate
"""


def binary_version(compute_capability: int) -> int:
    """The version of a trace for an architecture: its own, or the nearest that Accel-Sim knows, above if there is."""
    above = [version for version in BINARY_VERSIONS if version >= compute_capability]
    return above[0] if above else BINARY_VERSIONS[-1]


class TraceWriter:
    """A `Sink` that writes every launch to a file of its own."""

    def __init__(self, folder: str | Path, *, compress: bool = False, compute_capability: int = VOLTA) -> None:
        self.folder = Path(folder)
        self.kernels = 0
        self.instructions = 0
        self.dropped_dependences = 0  # those beyond four source registers
        self._compress = compress
        self.binary_version = binary_version(compute_capability)
        self._partial: Path | None = None
        self._file: IO[bytes] | None = None
        self._launch: LaunchInfo | None = None

    # ---- the folder -----------------------------------------------------------------------------------------

    def __enter__(self) -> TraceWriter:
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise TraceError(f"{self.folder}: is there already; name a new or an empty folder for the trace")
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self._partial = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}-", dir=self.folder.parent))
        except OSError as error:
            raise TraceError(f"{self.folder}: cannot be written: {error.strerror or error}") from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        assert self._partial is not None
        try:
            if kind is None:
                names = "".join(f"{self._name(number)}\n" for number in range(1, self.kernels + 1))
                (self._partial / "kernelslist.g").write_text(names)
                self._partial.chmod(0o755)
                if self.folder.exists():
                    self.folder.rmdir()
                self._partial.rename(self.folder)
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)

    def _name(self, number: int) -> str:
        return f"kernel-{number}.traceg" + (".xz" if self._compress else "")

    # ---- the sink -------------------------------------------------------------------------------------------

    def begin(self, launch: LaunchInfo) -> None:
        if self._partial is None:
            raise TraceError("a TraceWriter writes inside 'with TraceWriter(folder) as writer:' only")
        self.kernels += 1
        path = self._partial / self._name(self.kernels)
        opened = lzma.open(path, "wb", preset=1) if self._compress else path.open("wb")  # noqa: SIM115  (end closes)
        self._file = cast(IO[bytes], opened)
        self._launch, self._cta = launch, 0
        header = _HEADER.format(
            kernel=launch.kernel,
            number=self.kernels,
            ctas=launch.ctas,
            threads=launch.threads_per_cta,
            shared=launch.shared_bytes_per_cta,
            registers=spell.REGISTERS,
            binary=self.binary_version,
            shared_base=SHARED_BASE,
            local_base=LOCAL_BASE,
            phase=launch.phase,
            compaction=int(launch.compaction),
        )
        self._file.write(header.encode())
        self._widths = np.array(launch.element_bytes or (4,), np.int64)

    def chunk(self, chunk: Chunk) -> None:
        assert self._launch is not None and self._file is not None
        ops = np.ascontiguousarray(chunk.ops)
        if len(ops) and int(ops["kind"].max()) >= COMMAND:
            raise TraceError(
                f"kernel {self._launch.kernel!r} commands a special unit, for which Accel-Sim's traces have no "
                "instruction; export a run without a unit"
            )
        warps = self._launch.warps_per_cta
        for cta in range(chunk.ctas):
            self._file.write(f"\n#BEGIN_TB\n\nthread block = {self._cta},0,0\n".encode())
            self._cta += 1
            for warp in range(warps):
                first, last = chunk.warp_first[cta * warps + warp : cta * warps + warp + 2]
                self._warp(warp, ops[first:last], chunk.transactions)
            self._file.write(b"\n#END_TB\n")

    def _warp(self, number: int, ops: np.ndarray, transactions: np.ndarray) -> None:
        assert self._launch is not None and self._file is not None
        lanes = min(WARP_SIZE, self._launch.threads_per_cta - WARP_SIZE * number)
        size, lines = spell.room_for(ops)
        lines += int(spell.missing_exit(ops, lanes) != 0)
        out = np.empty(size, np.uint8)
        end, dropped = spell.put_warp(out, 0, ops, transactions, self._widths, lanes)
        self.instructions += int(lines)
        self.dropped_dependences += int(dropped)
        self._file.write(f"\nwarp = {number}\ninsts = {lines}\n".encode())
        self._file.write(out[:end].tobytes())

    def end(self) -> None:
        assert self._file is not None
        self._file.close()
        self._file = None

    def operation(self, operation: UnitOperation) -> None:
        raise TraceError(
            f"'{operation.info.operation}' of the {operation.info.unit} cannot be written as a kernel trace: "
            "export a run without a unit"
        )
