"""Reading kernel traces: against the naive reader, on hand-made lines, and with damaged files."""

from __future__ import annotations

import random

import pytest

from oracles import naive_traces
from support.trace_files import LINES, read, read_warp, trace_text, waits
from warpsift.simt import stream as s
from warpsift.traces import list_kernels

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


@pytest.mark.parametrize("name", ["kernel-1.traceg", "kernel-1.traceg.xz", "kernel-1.traceg.gz"])
def test_plain_and_compressed(tmp_path, name):
    sink = read(tmp_path, trace_text([[LINES, LINES[:3]]] * 2, threads=64), name)
    assert [len(ops) for ops, _ in sink.warps()] == [40, 3, 40, 3]


def test_line_numbers_clusters_and_missing_newline(tmp_path):
    text = trace_text([[["17 " + line for line in LINES]]], line_numbers=1)
    text = text.replace("thread block = 0,0,0\n", "thread block = 0,0,0\ncluster id = 0,0,0\ncluster rank = 0\n")
    assert len(next(read(tmp_path, text.rstrip()).warps())[0]) == 40


def test_chunks_are_bounded_and_small_blocks_read_the_same(tmp_path, monkeypatch):
    from warpsift.traces import reader, trace_file

    text = trace_text([[LINES], [LINES[:7]], [LINES]])
    whole = [(ops.tolist(), [t.tolist() for t in tx]) for ops, tx in read(tmp_path, text).warps()]
    monkeypatch.setattr(trace_file, "BLOCK_BYTES", 100)
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


def test_version_6_ends_its_lines_with_values(tmp_path):
    """Two immediates and the values of destinations behind the addresses: the same instructions as version 5."""
    lines = ["0000 ffffffff 1 R6 LDG.E 1 R4 4 1 0x7f3a00000000 4 0", "0010 ffffffff 1 R7 FADD 2 R6 R8 0 0"]
    ends = [" 0 Val 1 0x3f800000", " 0 NoVal"]
    found = []
    for version, texts in ((5, lines), (6, [line + end for line, end in zip(lines, ends, strict=True)])):
        text = trace_text([[texts]]).replace("tracer version = 5", f"tracer version = {version}")
        assert f"tracer version = {version}" in text
        found.append(next(read(tmp_path, text, f"kernel-{version}.traceg").warps())[0])
    assert found[0].tolist() == found[1].tolist()
