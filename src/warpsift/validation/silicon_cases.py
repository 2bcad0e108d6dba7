"""What `warpsift validate silicon` compares: measured rows of cards, and how each is run on the model.

A case is one measured number. It knows its group, the machine, a label, a place on its curve (footprint, threads) and a
function that computes the model's number. Rows of `silicon/*.csv` become cases; of a curve a few points stand for all.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from warpsift.graph import CsrGraph, load_graph
from warpsift.machines import load_machine, machine_names
from warpsift.validation import b40c, card_bandwidth, spmv
from warpsift.validation.hop_latency import cycles_per_hop

DATA = Path(__file__).parent / "silicon"
CARDS = ("v100", "a100", "l40")
GROUPS = ("latency", "bandwidth", "cache", "spmv", "bfs")
CHASE_KB = (16, 92, 400, 2000, 5400, 13300, 178600)  # nearest measured footprints
BLOCK_KB = (32, 64, 448, 1152, 4044)
SHARED_KB = (2048, 8192, 16896)
BLOCKS = ((32, 1), (64, 1), (96, 1), (64, 2), (128, 2), (256, 2), (384, 2), (512, 2), (768, 2), (1024, 2))
# Files of the folder given, and arguments for the loader. SuiteSparse's matrices of these names.
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "dblp-2010": ("dblp-2010/dblp-2010.graph", {}),
    "wave": ("wave.graph.bz2", {}),
    "soc-Epinions1": ("soc-Epinions1.txt.gz", {}),
    "wiki-Vote": ("wiki-Vote.txt.gz", {}),
    "bcsstk13": ("bcsstk13.mtx.gz", {}),
    "ca-HepTh": ("ca-HepTh.csv.gz", {"symmetrise": True}),
    "delaunay_n13": ("delaunay_n13.mtx.gz", {}),
}
_KRON: dict[str, Any] = {"symmetrise": True, "drop_self_loops": True, "merge_duplicates": True}
GENERATED: dict[str, tuple[str, dict[str, Any]]] = {
    "delaunay_n17": ("delaunay-17", {}),
    "delaunay_n19": ("delaunay-19", {}),
    "delaunay_n21": ("delaunay-21", {}),
    "rgg_n_2_18_s0": ("rgg-18", {}),
    "rgg_n_2_20_s0": ("rgg-20", {}),
    "kron_g500-logn16": ("kron-16", _KRON),
    "kron_g500-logn18": ("kron-18", _KRON),
    "kron_g500-logn20": ("kron-20", _KRON),
}
LONG = (
    "kron_g500-logn18",
    "kron_g500-logn20",
    "delaunay_n19",
    "delaunay_n21",
    "rgg_n_2_18_s0",
    "rgg_n_2_20_s0",
)  # only with --full
BFS_GRAPHS = {"kron_g500-logn21": ("kron-21", _KRON)}  # six minutes of processor time: only with --full


@dataclass(frozen=True)
class Case:
    """One measured number and how the model computes its own."""

    group: str
    gpu: str
    label: str
    place: float  # on its curve: KB, threads, entries
    measured: float
    unit: str
    run: Callable[[], float]
    apart: float = 0.0  # of `measured`, what a host adds

    @property
    def key(self) -> str:
        return f"{self.group}/{self.gpu}/{self.label}"


def rows_of(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _nearest(rows: list[dict[str, str]], column: str, wanted: float) -> dict[str, str]:
    return min(rows, key=lambda row: abs(float(row[column]) / wanted - 1))


def latency_cases(gpu: str) -> Iterator[Case]:
    rows = [row for row in rows_of("latency") if row["gpu"] == gpu]
    for wanted in CHASE_KB:
        row = _nearest(rows, "footprint_kb", wanted)
        kb = float(row["footprint_kb"])
        run = partial(_hop, gpu, kb)
        yield Case("latency", gpu, f"{kb:g} KB", kb, float(row["cycles_per_hop"]), "cycles", run)


def _hop(gpu: str, kilobytes: float) -> float:
    return cycles_per_hop(load_machine(gpu), kilobytes)


def bandwidth_cases(gpu: str) -> Iterator[Case]:
    rows = [row for row in rows_of("stream") if row["gpu"] == gpu]
    sms = load_machine(gpu).sm.count
    for block, ctas in BLOCKS:
        threads = sms * block * ctas
        for row in (r for r in rows if int(r["block"]) == block and int(r["threads"]) == threads):
            for what in card_bandwidth.STREAMS:
                run = partial(card_bandwidth.stream_gbs, gpu, what, block, ctas)
                label, measured = f"{what}, {threads} threads", float(row[f"{what}_gbs"])
                yield Case("bandwidth", gpu, label, threads, measured, "GB/s", run)


def cache_cases(gpu: str) -> Iterator[Case]:
    measures = {"per_sm": (BLOCK_KB, card_bandwidth.block_gbs), "shared_by_all": (SHARED_KB, card_bandwidth.shared_gbs)}
    for data, (sizes, function) in measures.items():
        rows = [row for row in rows_of("cache_bandwidth") if row["gpu"] == gpu and row["data"] == data]
        for wanted in sizes if rows else ():
            row = _nearest(rows, "footprint_kb", wanted)
            kb = float(row["footprint_kb"])
            run = partial(function, gpu, kb)
            yield Case("cache", gpu, f"{data}, {kb:g} KB", kb, float(row["gbs"]), "GB/s", run)


def spmv_cases(graphs: Path | None, full: bool) -> Iterator[Case]:
    for row in rows_of("spmv"):
        name = row["graph"]
        loaded = _graph_of(name, graphs)
        if loaded is None or (name in LONG and not full):
            continue
        for mapping in spmv.MAPPINGS:
            text = row[f"{mapping}_ms"]
            if text:
                apart = spmv.HOST_US[mapping]
                run = partial(_multiply, loaded, mapping, apart)
                label = f"{name}, {mapping}"
                yield Case("spmv", "v100", label, float(row["nnz"]), 1000 * float(text), "us", run, apart)


def _graph_of(name: str, graphs: Path | None) -> Callable[[], CsrGraph] | None:
    if name in GENERATED:
        source, choices = GENERATED[name]
        return partial(load_graph, source, **choices)
    if graphs is not None and name in FILES and (graphs / FILES[name][0]).is_file():
        return partial(load_graph, str(graphs / FILES[name][0]), **FILES[name][1])
    return None


def _multiply(graph: Callable[[], CsrGraph], mapping: str, apart: float) -> float:
    return 1e6 * spmv.seconds(load_machine("v100"), graph(), mapping) + apart


def bfs_cases(full: bool) -> Iterator[Case]:
    for row in rows_of("bfs"):
        if row["gpu"] == "m60" and row["graph"] in BFS_GRAPHS and full:
            source, choices = BFS_GRAPHS[row["graph"]]
            run = partial(_search, source, choices)
            yield Case("bfs", "m60", row["graph"], float(row["edges_visited"]), float(row["mean_ms"]), "ms", run)


def _search(source: str, choices: dict[str, Any]) -> float:
    return 1000 * b40c.seconds("m60", load_graph(source, **choices))


def gpus() -> tuple[str, ...]:
    """The measured cards that are machines here."""
    return tuple(card for card in CARDS if card in machine_names())


def cases(groups: tuple[str, ...], gpus: tuple[str, ...], graphs: Path | None, full: bool) -> list[Case]:
    """Every case asked for, in the order of the tables."""
    found: list[Case] = []
    for gpu in gpus:
        for group, make in (("latency", latency_cases), ("bandwidth", bandwidth_cases), ("cache", cache_cases)):
            found += make(gpu) if group in groups else ()
    if "spmv" in groups and "v100" in gpus:
        found += spmv_cases(graphs, full)
    if "bfs" in groups:
        found += bfs_cases(full)
    return found
