"""Damaged kernel traces: one clear error each, with the file and the line, and never a crash."""

from __future__ import annotations

import contextlib
import lzma
import os
import time

import numpy as np
import pytest

from support.tapes import Tape
from support.trace_files import LINES, read, trace_text
from warpsift.traces import TraceError, list_kernels, replay
from warpsift.traces.reader import replay_kernel


def spoil(old, new):
    return lambda text: text.replace(old, new, 1)


FAULTS = [
    (
        spoil("-grid dim", "-grid"),
        "kernel-1.traceg: the header has no '-grid dim = ...'; is this a kernel trace (.traceg)?",
    ),
    (spoil("(32,1,1)", "(2048,1,1)"), "kernel-1.traceg, line 4: a block of 2048 threads; it must have 1 to 1024"),
    (spoil("(32,1,1)", "32"), "kernel-1.traceg, line 4: '-block dim' must be like (512,1,1), not '32'"),
    (spoil("(1,1,1)", "(99999999999,9,9)"), "a grid of"),
    (
        spoil("version = 5", "version = 2"),
        "kernel-1.traceg, line 12: tracer version 2 is not supported; versions 3, 4, 5, 6 are",
    ),
    (spoil("-shmem = 0", "-shmem = many"), "kernel-1.traceg, line 5: '-shmem' must be a number, not 'many'"),
    (spoil("-nregs = 16", "hello"), "kernel-1.traceg, line 6: expected '-name = value', found 'hello'"),
    (spoil("#END_TB", ""), "kernel-1.traceg: the file ends inside a thread block; it is not complete"),
    (spoil("#BEGIN_TB", "#begin"), "kernel-1.traceg, line 20: outside a thread block: '#BEGIN_TB' is missing"),
    (spoil("(1,1,1)", "(2,1,1)"), "kernel-1.traceg: 1 thread blocks, but the grid has 2; the trace is not complete"),
    (
        spoil("block = 0,0,0", "block = 0,3,0"),
        "kernel-1.traceg, line 20: the thread block is outside the grid (1 x 1 x 1)",
    ),
    (spoil("block = 0,0,0", "block = 0"), "expected 'thread block = x,y,z', 'warp = n' or 'insts = n'"),
    (spoil("warp = 0", "warp = 1"), "kernel-1.traceg, line 22: the warp number is beyond the block's 1 warps"),
    (spoil("warp = 0\n", "\n"), "kernel-1.traceg, line 23: an instruction or 'insts = n' outside a warp"),
    (
        spoil("insts = 40", "insts = 41"),
        "kernel-1.traceg, line 65: the last warp had 40 instructions, but said 'insts = 41'",
    ),
    (
        spoil("0000 ffffffff", "0000 fffffffff"),
        "kernel-1.traceg, line 24: too many bits: masks have 32, addresses at most 52, found 'fffffffff'",
    ),
    (spoil("ffffffff 1 R0", "ffffffff x R0"), "kernel-1.traceg, line 24: expected a decimal number, found 'x'"),
    (
        spoil("1 R9 4", "9 R9 4"),
        "kernel-1.traceg, line 24: too many registers: at most 4 destinations and 8 sources, found '9'",
    ),
    (spoil("1 R9 4", "1 9 4"), "kernel-1.traceg, line 24: expected a register such as R12, found '9'"),
    (
        spoil("R9 4 1 0x0 4 0", "R9 4 7 0x0 4 0"),
        "kernel-1.traceg, line 24: unknown address mode; 0 (list), 1 (base and stride)",
    ),
    (
        spoil("R9 4 1 0x0 4 0", "R9 4 1 0xzz 4 0"),
        "kernel-1.traceg, line 24: expected a hexadecimal number, found '0xzz'",
    ),
    (spoil("R9 4 1 0x0 4 0", "R9 4 1 0xffffffffffffffff 4 0"), "too many bits: masks have 32, addresses at most 52"),
    (spoil("R9 4 1 0x0 4 0", "R9 4 1 0x0 -4 0"), "too many bits: masks have 32, addresses at most 52"),
    (spoil("R9 4 1 0x0 4 0", "R9 4 0 0x0"), "kernel-1.traceg, line 24: the line ends too early"),
    (
        spoil("R9 4 1 0x0 4 0", "R9 0 0"),
        "kernel-1.traceg, line 24: a memory instruction without addresses (its width is 0)",
    ),
    (
        spoil("ffffffff 1 R0 LDG", "ffff0ff0 1 R0 LDG"),
        "kernel-1.traceg, line 24: mode 1 (base and stride) needs neighbouring",
    ),
    (
        spoil("LDG.E 1 R9", "UTMALDG 1 R9"),
        "kernel-1.traceg, line 24: tensor memory accelerator instructions cannot be timed",
    ),
    (spoil("LDG.E 1 R9", "LDNEW.E 1 R9"), "an instruction with addresses that is not known as a memory instruction"),
    (spoil("0010 ffffffff", "x" * 600_000), "a line is longer than 16384 bytes; is this a .traceg file?"),
    (
        lambda text: "no trace at all",
        "kernel-1.traceg: no line begins with '#' after the header; is this a .traceg file?",
    ),
]


@pytest.mark.parametrize(("damage", "message"), FAULTS)
def test_errors_name_the_file_and_the_line(tmp_path, monkeypatch, damage, message):
    monkeypatch.chdir(tmp_path)
    text = damage(trace_text([[LINES]]))
    with pytest.raises(TraceError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def test_errors_of_files(tmp_path):
    with pytest.raises(TraceError, match=r"no such file; --trace takes a folder with kernelslist\.g"):
        list_kernels(tmp_path)
    (tmp_path / "kernelslist.g").write_text("kernel-1/../../secret.traceg\n")
    with pytest.raises(TraceError, match=r"kernelslist.g, line 1: expected 'kernel-N.traceg' or 'Memcpy...'"):
        list_kernels(tmp_path)
    (tmp_path / "kernelslist.g").write_text("kernel-1.traceg.xz\n")
    (tmp_path / "kernel-1.traceg.xz").write_bytes(lzma.compress(trace_text([[LINES]]).encode())[:-30])
    with pytest.raises(TraceError, match=r"kernel-1.traceg.xz: cannot be read: "):
        replay(tmp_path, Tape())


@pytest.mark.parametrize("seed", range(30))
def test_noise_is_an_error_or_read_but_never_a_crash(tmp_path, seed):
    rng = np.random.default_rng(seed)
    data = bytearray(trace_text([[LINES]]).encode())
    for at in rng.integers(0, len(data), 6):
        data[at] = rng.integers(0, 256)
    try:
        read(tmp_path, data.decode("latin-1"))
    except TraceError as error:
        assert "kernel-1.traceg" in str(error)


def test_a_list_names_only_regular_files(tmp_path):
    list_file = tmp_path / "kernelslist.g"
    for name, problem in (
        ("kernel-1\0.traceg", r"expected 'kernel-N.traceg' or 'Memcpy...', found 'kernel-1\x00.traceg'"),
        ("kernel-1\x1b[2J", r"expected 'kernel-N.traceg' or 'Memcpy...', found 'kernel-1\x1b[2J'"),
        ("kernel-" + "1" * 5000, f"there is no file 'kernel-{'1' * 53}' beside it"),
        ("kernel-none.traceg", "there is no file 'kernel-none.traceg' beside it"),
        ("kernel-pipe.traceg", "there is no file 'kernel-pipe.traceg' beside it"),
    ):
        if "pipe" in name:
            os.mkfifo(tmp_path / name)  # reading it would wait for ever
        list_file.write_text(f"\n{name}\n")
        with pytest.raises(TraceError) as caught:
            replay(tmp_path, Tape())
        assert str(caught.value) == f"{list_file}, line 2: {problem}"
    with pytest.raises(TraceError, match="not a regular one"):
        replay_kernel(tmp_path / "kernel-pipe.traceg", Tape())


@pytest.mark.parametrize("line", ["-" + "a" * 40_000, "-a" + " " * 40_000 + "b", "-a =" + " " * 40_000 + "b"])
def test_headers_are_read_in_linear_time(tmp_path, line):
    """Long blanks took quadratic time before: 36 s for 100 kB."""
    text = trace_text([[LINES]])
    start = time.process_time()
    with contextlib.suppress(TraceError):
        read(tmp_path, f"{line}\n{text}")
    assert time.process_time() - start < 1
