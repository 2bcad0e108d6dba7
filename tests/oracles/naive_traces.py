"""Kernel traces read the slow and obvious way, one Python object per instruction; the oracle of the reader."""

from __future__ import annotations

from dataclasses import dataclass, field

LOADS = ("LDG", "LDL")
STORES = ("STG", "STL")
ATOMICS = ("ATOM", "ATOMG", "RED")
SHARED = ("LDS", "STS", "ATOMS")
BRANCHES = ("BRA", "EXIT", "BSYNC", "RET", "CALL")


@dataclass
class Instruction:
    """One line, and what follows from it."""

    kind: str
    lanes: int
    dests: list[int]
    sources: list[int]
    addresses: list[int]
    width: int
    branch: bool
    waits_for: set[int] = field(default_factory=set)  # indices of memory instructions


def parse(line: str) -> Instruction:
    words = line.split()
    mask = int(words[1], 16)
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    at = 3 + int(words[2])
    dests = [int(w[1:]) for w in words[3:at] if w != "R255"]
    opcode, *modifiers = words[at].split(".")
    count = int(words[at + 1])
    sources = [int(w[1:]) for w in words[at + 2 : at + 2 + count]]
    at += 2 + count
    width = next((int(m.lstrip("USF")) // 8 for m in modifiers if m.lstrip("USF").isdigit()), 4)
    addresses = _addresses(words[at + 1 :], lanes) if words[at] != "0" else []
    kind = "alu"
    for name, group in (
        ("load", LOADS),
        ("store", STORES),
        ("atomic", ATOMICS),
        ("shared", SHARED),
        ("barrier", ("BAR",)),
    ):
        if opcode in group and (lanes or name == "barrier"):
            kind = name
    if opcode in LOADS + STORES + ATOMICS + SHARED:
        words_wide = (width + 3) // 4
        dests = [d + k for d in dests for k in range(words_wide)]
        spans = [2 if "E" in modifiers else 1] + [words_wide] * len(sources)
        sources = [s + k for s, span in zip(sources, spans, strict=False) if s != 255 for k in range(span)]
    elif "WIDE" in modifiers:
        dests = [d + k for d in dests for k in range(2)]
    return Instruction(kind, len(lanes), dests, sources, addresses, width, opcode in BRANCHES)


def _addresses(words: list[str], lanes: list[int]) -> list[int]:
    if not lanes:
        return []
    mode = int(words[0])
    if mode == 0:
        return [int(w, 16) for w in words[1 : 1 + len(lanes)]]
    base = int(words[1], 16)
    if mode == 1:
        return [base + int(words[2]) * (lane - lanes[0]) for lane in lanes]
    out = [base]
    for delta in words[2 : 1 + len(lanes)]:
        out.append(out[-1] + int(delta))
    return out


def add_waits(instructions: list[Instruction]) -> None:
    """Who waits for which memory instruction: the first to read or overwrite a register that it writes."""
    writer: dict[int, int] = {}
    for index, one in enumerate(instructions):
        for register in one.sources + one.dests:
            if register in writer:
                one.waits_for.add(writer[register])
        writer = {r: w for r, w in writer.items() if w not in one.waits_for}
        if one.kind in ("load", "atomic", "shared"):
            for register in one.dests:
                writer[register] = index


def lines_of(one: Instruction) -> list[tuple[int, int]]:
    """(line, sectors) of a load or store, in order of the first lane."""
    found: dict[int, int] = {}
    for address in one.addresses:
        found[address >> 7] = found.get(address >> 7, 0) | 1 << (address >> 5 & 3)
    return list(found.items())


def alu_runs(instructions: list[Instruction]) -> list[tuple[int, int, int]]:
    """(first index, count, chain) of the runs that ALU instructions form."""
    runs: list[tuple[int, int, int]] = []
    depth: dict[int, int] = {}
    open_run = False
    for index, one in enumerate(instructions):
        if one.kind != "alu":
            open_run = False
            continue
        if open_run and (one.lanes != instructions[index - 1].lanes or one.waits_for):
            open_run = False
        if not open_run:
            runs.append((index, 0, 0))
            depth = {}
            open_run = True
        mine = 1 + max((depth.get(s, 0) for s in one.sources), default=0)
        for register in one.dests:
            depth[register] = mine
        first, count, chain = runs[-1]
        runs[-1] = (first, count + 1, max(chain, mine))
        if one.branch:
            open_run = False
    return runs
