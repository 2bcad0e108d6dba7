"""The header of a kernel trace and the list of kernels of a run.

-kernel name = _Z6expandPKiPi            kernelslist.g:
-grid dim = (512,1,1)                      MemcpyHtoD,0x00007f2c4a000000,4096
-block dim = (256,1,1)                     kernel-1.traceg
...                                        kernel-2.traceg.xz
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warpsift.hardware import WARP_SIZE
from warpsift.paths import is_file, is_folder
from warpsift.simt.stream import LaunchInfo
from warpsift.traces.trace_errors import TraceError

# Tracer versions whose instruction lines this reader knows; 4 and 5 added line numbers and an immediate, 6 a second
# immediate and the values of destinations at the end of the line, which nothing here needs.
VERSIONS = (3, 4, 5, 6)
MOST_THREADS = 1024  # per CTA (CUDA C Programming Guide, technical specifications, compute capability 2.x and later)
MOST_CTAS = 2**31 - 1  # gridDim.x, same table; y and z reach 65535, but their product is bounded by this here
# Arrays of a launch read from a trace: names are lost, the width of the access is known.
WIDTHS = (1, 2, 4, 8, 16)
ARRAYS = (*(f"{width}-byte accesses" for width in WIDTHS), "local memory")
ELEMENT_BYTES = (*WIDTHS, 4)

_DIMENSIONS = re.compile(r"\((\d+),(\d+),(\d+)\)$")
_NEEDED = ("kernel name", "grid dim", "block dim", "accelsim tracer version")


@dataclass(frozen=True)
class Header:
    """What a trace says of its launch before the instructions."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    registers: int
    version: int
    line_numbers: bool  # whether every instruction begins with its source line
    shared_base: int  # the window that generic addresses of shared memory lie in, up to `local_base`
    local_base: int
    phase: str
    compaction: bool
    exported: bool  # by us: with more register names than a compiler would need

    @property
    def ctas(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def launch(self) -> LaunchInfo:
        return LaunchInfo(
            self.kernel,
            self.phase,
            self.compaction,
            self.ctas,
            self.threads,
            self.shared_bytes,
            ARRAYS,
            ELEMENT_BYTES,
            registers_per_thread=0 if self.exported else self.registers,
        )

    @property
    def warps_per_cta(self) -> int:
        return -(-self.threads // WARP_SIZE)


def parse_header(lines: list[str], where: str) -> Header:
    """The header from its lines (all before the first that begins with '#'); `where` is the file's name."""
    found: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, equals, value = line[1:].partition("=")
        if not (line.startswith("-") and name and equals):
            raise TraceError(f"{where}, line {number}: expected '-name = value', found {line.strip()[:60]!r}")
        found[name.strip()] = (number, value.strip())
    for name in _NEEDED:
        if name not in found:
            raise TraceError(f"{where}: the header has no '-{name} = ...'; is this a kernel trace (.traceg)?")
    reader = _Fields(found, where)
    header = Header(
        kernel=found["kernel name"][1][:500],
        grid=reader.dimensions("grid dim"),
        block=reader.dimensions("block dim"),
        shared_bytes=reader.number("shmem"),
        registers=reader.number("nregs"),
        version=reader.number("accelsim tracer version"),
        line_numbers=reader.number("enable lineinfo") != 0,
        shared_base=reader.number("shmem base_addr", 16),
        local_base=reader.number("local mem base_addr", 16),
        phase=found.get("warpsift phase", found["kernel name"])[1][:200],
        compaction=reader.number("warpsift compaction") != 0,
        exported="warpsift phase" in found,
    )
    _check(header, reader)
    return header


class _Fields:
    """Header values with the line each was found in."""

    def __init__(self, found: dict[str, tuple[int, str]], where: str) -> None:
        self._found, self._where = found, where

    def at(self, name: str) -> str:
        return f"{self._where}, line {self._found[name][0]}"

    def number(self, name: str, base: int = 10) -> int:
        """A number that is not negative; 0 if the field is missing."""
        if name not in self._found:
            return 0
        text = self._found[name][1]
        try:
            value = int(text, base)
        except ValueError:
            value = -1
        if not 0 <= value < 1 << 62:
            raise TraceError(f"{self.at(name)}: '-{name}' must be a number, not {text[:40]!r}")
        return value

    def dimensions(self, name: str) -> tuple[int, int, int]:
        text = self._found[name][1].replace(" ", "")
        match = _DIMENSIONS.match(text)
        if match is None:
            raise TraceError(f"{self.at(name)}: '-{name}' must be like (512,1,1), not {text[:40]!r}")
        x, y, z = (min(int(part[:12]), MOST_CTAS + 1) for part in match.groups())
        return x, y, z


def _check(header: Header, fields: _Fields) -> None:
    if header.version not in VERSIONS:
        raise TraceError(
            f"{fields.at('accelsim tracer version')}: tracer version {header.version} is not supported; "
            f"versions {', '.join(map(str, VERSIONS))} are"
        )
    if not 1 <= header.threads <= MOST_THREADS:
        raise TraceError(
            f"{fields.at('block dim')}: a block of {header.threads} threads; it must have 1 to {MOST_THREADS}"
        )
    if not 1 <= header.ctas <= MOST_CTAS:
        raise TraceError(
            f"{fields.at('grid dim')}: a grid of {header.ctas} thread blocks; it must have 1 to {MOST_CTAS}"
        )


def list_kernels(path: Path) -> list[Path]:
    """The kernel traces of a run: of a folder with `kernelslist.g`, of such a list, or one trace by itself."""
    if is_folder(path):
        path = path / "kernelslist.g"
    if not is_file(path):
        raise TraceError(f"{path}: no such file; --trace takes a folder with kernelslist.g, or a .traceg file")
    if ".traceg" in path.name:
        return [path]
    kernels: list[Path] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            name = line.strip()
            if not name or name.startswith("Memcpy"):  # copies by the host take no simulated time
                continue
            if not name.startswith("kernel") or "/" in name or "\\" in name or not name.isprintable():
                raise TraceError(
                    f"{path}, line {number}: expected 'kernel-N.traceg' or 'Memcpy...', found {name[:60]!r}"
                )
            kernels.append(path.parent / name)
            if not is_file(kernels[-1]):  # not a pipe either, which would wait for its writer
                raise TraceError(f"{path}, line {number}: there is no file {name[:60]!r} beside it")
    if not kernels:
        raise TraceError(f"{path}: lists no kernel")
    return kernels
