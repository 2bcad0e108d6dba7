"""Reading kernel traces: against the naive reader, on hand-made lines, and with damaged files."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import random
import time

import numpy as np
import pytest

import naive_traces
from warpsift.simt import stream as s
from warpsift.traces import TraceError, list_kernels, replay
from warpsift.traces.reader import replay_kernel

HEADER = """-kernel name = _Z3addPfS_S_i
-kernel id = 1
-grid dim = ({ctas},1,1)
-block dim = ({threads},1,1)
-shmem = 0
-nregs = 16
-binary version = 61
-cuda stream id = 0
-shmem base_addr = 0x00007f3a8e000000
-local mem base_addr = 0x00007f3a8c000000
-nvbit version = 1.7.4
-accelsim tracer version = 5
-enable lineinfo = {line_numbers}

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [...] immediate

"""


class Keep:
    """A sink that keeps everything."""

    def __init__(self):
        self.launches = []

    def begin(self, launch):
        self.launches.append((launch, []))

    def chunk(self, chunk):
        self.launches[-1][1].append(chunk)

    def end(self):
        pass

    def operation(self, operation):
        raise AssertionError

    def warps(self):
        """(ops, transactions of each op) of every warp of every launch."""
        for _, chunks in self.launches:
            for chunk in chunks:
                for w in range(chunk.warps):
                    ops = chunk.ops[chunk.warp_first[w] : chunk.warp_first[w + 1]]
                    yield ops, [chunk.transactions[o["first"] : o["first"] + o["transactions"]] for o in ops]


def waits(ops):
    """For each op the indices of the ops whose slot it waits for."""
    flying, out = {}, []
    for index, op in enumerate(ops):
        out.append(set().union(*(flying.pop(slot, set()) for slot in range(s.SLOTS) if op["wait"] >> slot & 1), set()))
        if op["slot"] != s.NO_SLOT:
            flying.setdefault(int(op["slot"]), set()).add(index)
    return out


def trace_text(blocks, *, threads=32, line_numbers=0, ctas=None):
    """A trace file: `blocks` is a list of thread blocks, each a list of warps, each a list of lines."""
    text = HEADER.format(ctas=ctas or len(blocks), threads=threads, line_numbers=line_numbers)
    for number, warps in enumerate(blocks):
        text += f"\n#BEGIN_TB\n\nthread block = {number},0,0\n"
        for w, lines in enumerate(warps):
            text += f"\nwarp = {w}\ninsts = {len(lines)}\n" + "".join(f"{line} \n" for line in lines)
        text += "\n#END_TB\n"
    return text


def read(tmp_path, text, name="kernel-1.traceg"):
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(
        lzma.compress(data) if name.endswith("xz") else gzip.compress(data) if name.endswith("gz") else data
    )
    sink = Keep()
    replay(path, sink)
    return sink


def read_warp(tmp_path, *lines):
    return next(iter(read(tmp_path, trace_text([[list(lines)]])).warps()))


# ---- single instructions ---------------------------------------------------------------------------------------


def test_a_vector_addition(tmp_path):
    sink = read(
        tmp_path,
        trace_text(
            [
                [
                    [
                        "0000 ffffffff 1 R1 MOV 0 0 0",
                        "0010 ffffffff 1 R0 S2R 0 0 0",
                        "0020 ffffffff 1 R4 IMAD.WIDE 2 R0 R9 0 0",
                        "0030 ffffffff 1 R6 LDG.E 1 R4 4 1 0x7f3a00000000 4 0",
                        "0040 ffffffff 1 R8 LDG.E 1 R4 4 1 0x7f3a00001000 4 0",
                        "0050 ffffffff 1 R6 FADD 2 R6 R8 0 0",
                        "0060 ffffffff 0 STG.E 2 R4 R6 4 1 0x7f3a00002000 4 0",
                        "0070 ffffffff 0 EXIT 0 0 0",
                    ]
                ]
            ]
        ),
    )
    launch = sink.launches[0][0]
    assert (launch.kernel, launch.ctas, launch.threads_per_cta) == ("_Z3addPfS_S_i", 1, 32)
    ops, transactions = next(sink.warps())
    assert ops["kind"].tolist() == [s.ALU, s.LOAD, s.LOAD, s.ALU, s.STORE, s.ALU]
    assert ops["count"].tolist() == [3, 1, 1, 1, 1, 1]
    assert ops["detail"][0] == 2  # S2R, then IMAD that needs it; MOV beside them
    assert ops["array"][3] == 1  # FADD is floating point
    assert waits(ops) == [set(), set(), set(), {1, 2}, set(), set()]
    assert [t.tolist() for t in transactions][1] == [0x7F3A00000000 >> 7 << 16 | 1 << 8 | 15]


@pytest.mark.parametrize(
    ("tail", "sectors"),
    [
        ("00000007 1 R4 LDG.E 1 R2 4 0 0x1000 0x1020 0x00001ffc 0", [(0x20, 3), (0x3F, 8)]),
        ("0000000f 1 R4 LDG.E.64 1 R2 8 1 0x1000 -32 0", [(0x20, 1), (0x1F, 14)]),
        ("80000001 1 R4 LDG.E 1 R2 4 2 0x1000 128 0", [(0x20, 1), (0x21, 1)]),
        ("80000001 1 R4 LDG.E 1 R2 4 2 0x1000 128 0 0", [(0x20, 1), (0x21, 1)]),  # some tracers add a delta
        ("80000001 1 R4 LDG.E 1 R2 4 2 0x1000 128", [(0x20, 1), (0x21, 1)]),  # version 3: no immediate
        ("00000001 1 R4 LDG.E.U8.CONSTANT 1 R2 1 0 1fe0 0", [(0x3F, 8)]),
    ],
)
def test_address_modes(tmp_path, tail, sectors):
    _, transactions = read_warp(tmp_path, "0000 " + tail)
    assert [(int(t) >> 16, int(t) & 15) for t in transactions[0]] == sectors


@pytest.mark.parametrize(
    ("tail", "kind", "waited_for"),
    [
        ("ffffffff 1 R4 ATOMG.E.ADD.STRONG.GPU 2 R2 R6 4 1 0x1000 0 0", s.ATOMIC, True),
        ("ffffffff 0 RED.E.ADD.STRONG.GPU 2 R2 R6 4 1 0x1000 0 0", s.ATOMIC, False),
        ("ffffffff 1 R255 ATOM.E.ADD 2 R2 R6 4 1 0x1000 0 0", s.ATOMIC, False),
        ("ffffffff 1 R4 LDS.U.64 1 R2 8 1 0x0 8 0", s.SHARED, True),
        ("ffffffff 0 STS 2 R2 R4 4 1 0x0 4 0", s.SHARED, False),
        ("ffffffff 1 R4 LD.E 1 R2 4 1 0x7f3a8e000100 4 0", s.SHARED, True),  # in the window of shared memory
        ("ffffffff 1 R4 LD.E 1 R2 4 1 0x7f3a00000100 4 0", s.LOAD, True),
        ("ffffffff 0 ST.E 2 R2 R4 4 1 0x7f3a00000100 4 0", s.STORE, False),
        ("ffffffff 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 0x1000 16 0", s.LOAD, True),
        ("ffffffff 1 R4 LDC 1 R2 4 1 0x160 0 0", s.ALU, False),
        ("ffffffff 0 BAR.SYNC 1 R255 0 0", s.BARRIER, False),
        ("ffffffff 0 BAR.ARV 0 0 0", s.ALU, False),
        ("00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 0", s.ALU, False),  # predicated off: it takes an issue slot only
    ],
)
def test_kinds(tmp_path, tail, kind, waited_for):
    ops, _ = read_warp(tmp_path, "0000 " + tail)
    assert (ops["kind"].tolist(), bool(ops["slot"][0] != s.NO_SLOT)) == ([kind], waited_for)


def test_atomics_repeat_and_local_memory_interleaves(tmp_path):
    _, transactions = read_warp(tmp_path, "0000 0000ffff 0 RED.E.ADD 2 R2 R6 4 1 0x1000 0 0")
    assert transactions[0].tolist() == [0x20 << 16 | 16 << 8 | 1]
    # Every lane names the same offset of its own local memory; they lie side by side.
    _, transactions = read_warp(tmp_path, "0000 ffffffff 1 R4 LDL 1 R2 4 1 0x7f3a8c000010 0 0")
    assert [int(t) & 15 for t in transactions[0]] == [15]


@pytest.mark.parametrize(
    ("tail", "passes"),
    [
        ("ffffffff 1 R4 LDS 1 R2 4 1 0x0 4 0", 1),
        ("ffffffff 1 R4 LDS 1 R2 4 1 0x0 128 0", 32),
        ("ffffffff 1 R4 LDS.64 1 R2 8 1 0x0 8 0", 2),
        ("ffffffff 1 R4 LDS.128 1 R2 16 1 0x0 16 0", 4),
        ("ffffffff 1 R4 LDS.128 1 R2 16 1 0x0 128 0", 32),
        ("ffffffff 1 R4 LDS 1 R2 4 1 0x40 0 0", 1),
    ],
)
def test_shared_memory_passes(tmp_path, tail, passes):
    ops, _ = read_warp(tmp_path, "0000 " + tail)
    assert ops["count"].tolist() == [passes]


def test_wide_registers_are_dependences(tmp_path):
    ops, _ = read_warp(
        tmp_path,
        "0000 ffffffff 1 R4 LDG.E.128 1 R2 16 1 0x1000 16 0",
        "0010 ffffffff 1 R9 FADD 2 R7 R7 0 0",  # the fourth word
        "0020 ffffffff 1 R12 LDG.E.64 1 R2 8 1 0x2000 8 0",
        "0030 ffffffff 1 R14 LDG.E 1 R12 4 1 0x3000 4 0",  # R12 and R13 are its address
    )
    assert waits(ops) == [set(), {0}, set(), {2}]


def test_asynchronous_copies_end_at_depbar(tmp_path):
    ops, _ = read_warp(
        tmp_path,
        "0000 ffffffff 0 LDGSTS.E.128 2 R2 R4 16 1 0x1000 16 0",
        "0010 ffffffff 1 R6 IADD3 1 R8 0 0",
        "0020 ffffffff 0 LDGDEPBAR 0 0 0",
        "0030 ffffffff 0 DEPBAR.LE 0 0 0",
    )
    assert ops["kind"].tolist() == [s.LOAD, s.ALU, s.ALU]
    assert waits(ops) == [set(), set(), {0}]


def test_more_loads_than_slots_share_slots(tmp_path):
    loads = [f"0000 ffffffff 1 R{10 + k} LDG.E 1 R2 4 1 0x{4096 * (k + 1):x} 4 0" for k in range(20)]
    ops, _ = read_warp(tmp_path, *loads, "0000 ffffffff 1 R3 IADD3 1 R29 0 0")
    assert len(set(ops["slot"][:20].tolist())) == s.SLOTS
    assert 19 in waits(ops)[20]


# ---- against the naive reader ------------------------------------------------------------------------------------


def random_line(rng):
    mask = rng.choice([0xFFFFFFFF, 0xFFFF, 0xF0F0F0F1, 1 << rng.randrange(32), 0])
    lanes = bin(mask).count("1")
    register = lambda: f"R{rng.choice([*range(2, 20), 255])}"  # noqa: E731
    head = f"{16 * rng.randrange(4096):04x} {mask:08x}"
    pick = rng.randrange(10)
    if pick < 5:
        name = rng.choice(["IADD3", "FFMA", "IMAD.WIDE", "BRA", "ISETP.GE.AND", "MOV"])
        sources = [register() for _ in range(rng.randrange(4))]
        return " ".join([head, f"1 {register()}", name, str(len(sources)), *sources, "0 0"])
    if pick == 5:
        return f"{head} 0 BAR.SYNC 0 0 0"
    opcode, dest = rng.choice([("LDG", 1), ("STG", 0), ("ATOMG", 1), ("RED", 0), ("LDS", 1), ("STS", 0)])
    width = rng.choice([4, 8]) if opcode in ("LDS", "STS") else rng.choice([1, 2, 4, 8, 16])
    base = width * rng.randrange(1 << 12)
    contiguous = lanes and mask >> (mask & -mask).bit_length() - 1 == (1 << lanes) - 1
    if contiguous and rng.random() < 0.5:
        addresses = f"1 0x{base:x} {width * rng.choice([0, 1, 1, 5])}"
    elif rng.random() < 0.5:
        addresses = " ".join(["0", *(f"0x{width * rng.randrange(1 << 12):x}" for _ in range(lanes))])
    else:
        addresses = " ".join(
            ["2", f"0x{base + (1 << 20):x}", *(str(width * rng.randrange(-99, 99)) for _ in range(lanes - 1))]
        )
    suffix = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}[width]
    extended = "" if opcode in ("LDS", "STS") else ".E"
    dests = f"1 {register()}" if dest else "0"
    return f"{head} {dests} {opcode}{extended}{suffix} 2 {register()} {register()} {width} {addresses} 0"


@pytest.mark.parametrize("seed", range(12))
def test_random_traces_equal_the_naive_reader(tmp_path, seed):
    rng = random.Random(seed)
    lines = [random_line(rng) for _ in range(300)]
    ops, transactions = read_warp(tmp_path, *lines)
    naive = [naive_traces.parse(line) for line in lines]
    naive_traces.add_waits(naive)
    runs = {first: (count, chain) for first, count, chain in naive_traces.alu_runs(naive)}
    heads = [k for k, one in enumerate(naive) if one.kind != "alu" or k in runs]
    assert [s.KIND_NAMES[k] for k in ops["kind"]] == [naive[k].kind for k in heads]
    assert ops["lanes"].tolist() == [naive[k].lanes for k in heads]
    assert waits(ops) == [{heads.index(w) for w in naive[k].waits_for} for k in heads]
    for op, found, k in zip(ops, transactions, heads, strict=True):
        one = naive[k]
        if one.kind == "alu":
            assert (op["count"], op["detail"]) == runs[k]
        elif one.kind in ("load", "store"):
            assert [(int(t) >> 16, int(t) & 15) for t in found] == naive_traces.lines_of(one)


# ---- files -------------------------------------------------------------------------------------------------------

LINES = [f"{16 * k:04x} ffffffff 1 R{k % 8} LDG.E 1 R9 4 1 0x{128 * k:x} 4 0" for k in range(40)]


@pytest.mark.parametrize("name", ["kernel-1.traceg", "kernel-1.traceg.xz", "kernel-1.traceg.gz"])
def test_plain_and_compressed(tmp_path, name):
    sink = read(tmp_path, trace_text([[LINES, LINES[:3]]] * 2, threads=64), name)
    assert [len(ops) for ops, _ in sink.warps()] == [40, 3, 40, 3]


def test_line_numbers_clusters_and_missing_newline(tmp_path):
    text = trace_text([[["17 " + line for line in LINES]]], line_numbers=1)
    text = text.replace("thread block = 0,0,0\n", "thread block = 0,0,0\ncluster id = 0,0,0\ncluster rank = 0\n")
    assert len(next(read(tmp_path, text.rstrip()).warps())[0]) == 40


def test_chunks_are_bounded_and_small_blocks_read_the_same(tmp_path, monkeypatch):
    from warpsift.traces import files, reader

    text = trace_text([[LINES], [LINES[:7]], [LINES]])
    whole = [(ops.tolist(), [t.tolist() for t in tx]) for ops, tx in read(tmp_path, text).warps()]
    monkeypatch.setattr(files, "BLOCK_BYTES", 100)
    monkeypatch.setattr(reader, "CHUNK_OPS", 10)
    sink = read(tmp_path, text)
    assert len(sink.launches[0][1]) == 2  # the second block is too small for a chunk of its own
    strip = lambda ops: [(o[0], o[1], o[2], o[3], o[4]) for o in ops]  # noqa: E731  `first` differs
    assert [(strip(ops.tolist()), [t.tolist() for t in tx]) for ops, tx in sink.warps()] == [
        (strip(ops), tx) for ops, tx in whole
    ]


def test_list_of_kernels(tmp_path):
    (tmp_path / "kernelslist.g").write_text("MemcpyHtoD,0x00007f3a00000000,4096\nkernel-1.traceg\nkernel-2.traceg.xz\n")
    for name in ("kernel-1.traceg", "kernel-2.traceg.xz"):
        (tmp_path / name).touch()
    assert [p.name for p in list_kernels(tmp_path)] == ["kernel-1.traceg", "kernel-2.traceg.xz"]


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
        "kernel-1.traceg, line 12: tracer version 2 is not supported; versions 3, 4, 5 are",
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
        replay(tmp_path, Keep())


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
            replay(tmp_path, Keep())
        assert str(caught.value) == f"{list_file}, line 2: {problem}"
    with pytest.raises(TraceError, match="not a regular one"):
        replay_kernel(tmp_path / "kernel-pipe.traceg", Keep())


@pytest.mark.parametrize("line", ["-" + "a" * 40_000, "-a" + " " * 40_000 + "b", "-a =" + " " * 40_000 + "b"])
def test_headers_are_read_in_linear_time(tmp_path, line):
    """Long blanks took quadratic time before: 36 s for 100 kB."""
    text = trace_text([[LINES]])
    start = time.process_time()
    with contextlib.suppress(TraceError):
        read(tmp_path, f"{line}\n{text}")
    assert time.process_time() - start < 1


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
