"""SASS opcodes, as far as timing needs to tell them apart.

The name up to the first dot decides the class; what is not listed is an instruction of the ALUs, of which every GPU
generation has a few new ones. Sources: CUDA Binary Utilities, instruction set reference (Maxwell to Ampere), and the
classes that Accel-Sim's own tables (gpu-simulator/ISA_Def) give them: constant and texture loads are ALU
instructions there and here.
"""

from __future__ import annotations

import numpy as np

from warpsift.traces.compiled import BYTES, INTS, compiled, i64

ALU, FLOAT, BRANCH, FENCE, ASYNC_WAIT = 0, 1, 2, 3, 4  # instructions without addresses
BARRIER, UNSUPPORTED, ADDRESSED_ALU = 5, 6, 7
FIRST_MEMORY = 10  # classes from here on carry addresses
LOAD, STORE, ATOMIC, SHARED, LOCAL_LOAD, LOCAL_STORE, ASYNC_LOAD, GENERIC_LOAD, GENERIC_STORE = range(10, 19)

_NAMES = {
    FLOAT: "FADD FADD32I FCHK FCMP FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD RRO MUFU "
    "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 HMMA "
    "DADD DFMA DMNMX DMUL DSET DSETP DMMA",
    BRANCH: "BRA BRX BRXU JMP JMX JMXU BREAK BRK CONT SYNC BSYNC CAL CALL JCAL RET EXIT KILL WARPSYNC",
    FENCE: "MEMBAR",
    ASYNC_WAIT: "DEPBAR",
    BARRIER: "BAR",
    # Hopper's tensor memory accelerator: one instruction moves a tile, which this stream has no kind for.
    UNSUPPORTED: "UTMALDG UTMASTG UTMAPF UTMAREDG UBLKCP UBLKPF UBLKRED",
    # These may carry addresses in a trace, but Accel-Sim times them as ALU instructions, and so do we.
    ADDRESSED_ALU: "LDC LDCU ULDC CCTL CCTLL CCTLT QSPC TEX TEXS TLD TLD4 TLD4S TLDS TMML TXD TXQ "
    "SULD SUST SUATOM SURED SUQUERY",
    LOAD: "LDG",
    STORE: "STG",
    ATOMIC: "ATOM ATOMG RED",
    SHARED: "LDS LDSM STS STSM ATOMS",
    LOCAL_LOAD: "LDL",
    LOCAL_STORE: "STL",
    ASYNC_LOAD: "LDGSTS",
    GENERIC_LOAD: "LD",
    GENERIC_STORE: "ST",
}

_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3  # Fowler, Noll, Vo: FNV-1a, 64 bits


def hash_of(name: str) -> int:
    """The same hash as `hash_bytes`, as a signed integer."""
    value = _FNV_OFFSET
    for byte in name.encode():
        value = ((value ^ byte) * _FNV_PRIME) % (1 << 64)
    return value - (1 << 64) if value >> 63 else value


@compiled(i64(BYTES, i64, i64))
def hash_bytes(text, begin, end):
    """FNV-1a of text[begin:end], as a signed integer."""
    value = np.uint64(_FNV_OFFSET)
    for k in range(begin, end):
        value = (value ^ np.uint64(text[k])) * np.uint64(_FNV_PRIME)
    return np.int64(value)


_TABLE = sorted((hash_of(name), code) for code, names in _NAMES.items() for name in names.split())
HASHES = np.array([h for h, _ in _TABLE], np.int64)
CODES = np.array([code for _, code in _TABLE], np.int64)
assert len(set(HASHES.tolist())) == len(HASHES)


@compiled(i64(BYTES, i64, i64, INTS, INTS))
def class_of(text, begin, end, hashes, codes):
    """The class of the opcode name text[begin:end]."""
    wanted = hash_bytes(text, begin, end)
    low, high = 0, hashes.size
    while low < high:
        middle = (low + high) // 2
        if hashes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low < hashes.size and hashes[low] == wanted:
        return codes[low]
    return np.int64(ALU)
