"""What is fuzzed: each target reads an input the way a command would, and has valid inputs to begin with."""

from __future__ import annotations

import atexit
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from parts import as_tar, as_zip, joined, packed, split

sys.path.insert(0, str(Path(__file__).parents[1]))  # the oracles that tests share
from oracles import naive_webgraph
from warpsift.cli.app import overrides_of
from warpsift.graph import CsrGraph, cache, describe, load_graph
from warpsift.graph.limits import limits_of
from warpsift.graph.readers.formats import input_files, read_file
from warpsift.machines import load_machine
from warpsift.run.request import make_request
from warpsift.store import designs, rows, store
from warpsift.store.canonical_json import to_json
from warpsift.store.stored_json import Columns
from warpsift.sweep import plan, read_sweep
from warpsift.traces.header import list_kernels
from warpsift.traces.reader import replay_kernel

Run = Callable[[bytes, Path], None]  # the input and a folder for files


@dataclass(frozen=True)
class Target:
    run: Run
    seeds: Sequence[bytes]
    share: int = 10  # of the inputs


MM = b"%%MatrixMarket matrix"
GRAPHS: dict[str, list[bytes]] = {
    "a.mtx": [
        MM + b" coordinate pattern symmetric\n% c\n3 3 2\n2 1\n3 2\n",
        MM + b" coordinate integer general\n2 2 1\n1 2 -7\n",
        MM + b" coordinate real skew-symmetric\n3 3 1\n2 1 1.5e3\n",
        MM + b" array real general\n2 2\n0\n1\n2.5\n0\n",
    ],
    "a.txt": [
        b"# Nodes: 3 Edges: 2\n0 1\n1 2\n",
        b"5 70 1.5\n70 5 2\n",
        b"u,v,w\n0,1,5\n1;0;7\n",
        b"1 0 1 2\n2 1 0 3\n",
    ],
    "a.el": [b"0 1\n1 2\n2 0\n", b"\n\n#x\n0 9000\n"],
    "a.wel": [b"0 1 2\n1 2 1e300\n", b"0 1 -2147483648\n"],
    "a.metis": [b"3 2\n2\n1 3\n2\n", b"3 2 11 2\n1 1 2 5\n1 1 1 5 3 6\n1 1 2 6\n", b"2 1 100\n1 2\n1 1\n"],
    "a.gt": [
        bytes.fromhex(
            "e29bbe20677401000000000000000000000500000000000000000000000000000001000000000000000001000000000000"
        )
        + bytes.fromhex("0002010000000000000001" + 16 * "0"),
        bytes.fromhex("e29bbe2067740101" + 16 * "0" + "01" + "0000000000000002" + "0000000000000001" + "01" + 16 * "0")
        + bytes.fromhex("0000000000000001" + "02" + "0000000000000006" + "776569676874" + "02" + "00000007"),
    ],
    "a.gr": [b"c x\np sp 3 2\na 1 2 5\na 2 3 7\n", b"p tw 3 2\n1 2\n2 3\n", b"p edge 2 1\ne 1 2\n"],
}


def _graph(name: str, pack: Callable[[bytes], bytes] = bytes) -> Run:
    def run(data: bytes, folder: Path) -> None:
        path = folder / name
        path.write_bytes(pack(data))
        _load(path)

    return run


def _load(path: Path) -> None:
    graph = read_file(path, limits_of(None, input_files(path)))
    assert graph.offsets[-1] == graph.targets.size
    if graph.edges % 8 == 3:  # now and then: it takes longer than reading
        describe(graph)


def _webgraph(data: bytes, folder: Path) -> None:
    parts = [content for _, content in split(data)]
    (folder / "w.properties").write_bytes(parts[0] if parts else b"")
    (folder / "w.graph").write_bytes(parts[1] if len(parts) > 1 else data)
    _load(folder / "w.graph")


def _graphalytics(data: bytes, folder: Path) -> None:
    parts = [content for _, content in split(data)]
    for name, content in zip(("g.v", "g.e", "g.properties"), (*parts, data, b"", b""), strict=False):
        (folder / name).write_bytes(content)
    _load(folder / "g.e")


def _arrays(**arrays: np.ndarray) -> bytes:
    parts = {}
    for name, array in arrays.items():
        content = io.BytesIO()
        np.save(content, array)
        parts[f"{name}.npy"] = content.getvalue()
    return joined(parts)


def _npz_seeds() -> list[bytes]:
    ends = {"offsets": np.array([0, 1, 2]), "targets": np.array([1, 0], np.int32)}
    about = np.frombuffer(b'{"name":"g","stand_in_for":null,"provenance":{}}', np.uint8)
    matrix = {"shape": np.array([2, 2]), "data": np.array([1.5, 2])}
    rows_of = {"indptr": np.array([0, 1, 2], np.int32), "indices": np.array([1, 0], np.int32)}
    places = {"row": np.array([0, 1]), "col": np.array([1, 0])}
    return [
        _arrays(**ends, weights=np.array([1.5, 2], np.float32), original_ids=np.array([5, 9]), about=about),
        _arrays(offsets=np.array([0, 1], np.uint64), targets=np.array([0], np.uint8)),
        _arrays(format=np.array(b"csr"), **matrix, **rows_of),
        _arrays(format=np.array("csc"), **matrix, **rows_of),
        _arrays(format=np.array(b"coo"), **matrix, **places),
    ]


def _webgraph_seeds() -> list[bytes]:
    lists = [[1, 2, 3, 4, 5, 9], [1, 2, 3, 4, 5, 8], [0, 2], [], [1], [], [], [], [0], [0, 1, 2, 3, 4]]
    seeds = []
    for references in ([0] * 10, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]):
        properties = naive_webgraph.properties(lists, 7, 4, 3, {})
        seeds.append(joined({"w.properties": properties.encode(), "w.graph": naive_webgraph.encode(lists, references)}))
    return seeds


_PAIR = {"g.v": b"10\n2\n7\n", "g.e": b"2 7 0.5\n7 10 1\n", "g.properties": b"graph.g.directed = false\n"}


class _Nothing:
    def begin(self, launch: object) -> None: ...
    def chunk(self, chunk: object) -> None: ...
    def end(self) -> None: ...


TRACE = b"""-kernel name = k
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-shmem base_addr = 0x00007f3a8e000000
-local mem base_addr = 0x00007f3a8c000000
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [...]

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 3
0000 ffffffff 1 R0 LDG.E 1 R9 4 1 0x7f3a00000000 4 0
0010 ffffffff 1 R1 IADD3 2 R0 R0 0
0020 0000000f 0 STG.E 2 R1 R2 4 0 0x100 0x200 0x300 0x400 0

#END_TB
"""


def _trace(data: bytes, folder: Path) -> None:
    (folder / "kernel-1.traceg").write_bytes(data)
    replay_kernel(folder / "kernel-1.traceg", _Nothing())


def _kernels(data: bytes, folder: Path) -> None:
    (folder / "kernelslist.g").write_bytes(data)
    (folder / "kernel-1.traceg").write_bytes(TRACE)
    list_kernels(folder)


def _machine(data: bytes, folder: Path) -> None:
    (folder / "m.toml").write_bytes(data)
    load_machine(folder / "m.toml")


MACHINE = b"""extends = "gtx980"
description = "ours"
[sm]
count = 2
policy = "lrr"
[clocks]
core_mhz = 900.5
[l2]
size_bytes = 1048576
[dram]
extends = "gddr5-4gbps"
channels = 2
"""
SWEEP = b"""[common]
gpu = "tx1"
[[grid]]
algorithm = ["bfs", "sssp"]
graph = ["kron-5", "grid-4x4"]
seed = [1, 2]
l2.ways = [8, 16]
design = [{ unit = "none" }, { unit = "scu", l1.size_bytes = 32768 }]
[[point]]
algorithm = "pagerank"
graph = "kron-5"
max_iterations = 2
damping = 0.2
"""


def _sweep(data: bytes, folder: Path) -> None:
    (folder / "s.toml").write_bytes(data)
    read_sweep(folder / "s.toml")


def _text(data: bytes) -> str:
    """As an argument of a command arrives."""
    return data.decode("utf-8", "surrogateescape")


def _set(data: bytes, _: Path) -> None:
    load_machine("gtx980", overrides_of([_text(data)]))


def _name(data: bytes, _: Path) -> None:
    load_graph(_text(data), max_bytes=100_000, cache=False)


POINT = plan([make_request("bfs", "grid-4x4", {"gpu": "tx1", "overrides": {"l2.ways": 8}})])[0]
RESULT = {"check": "pass", "microseconds": 1.5, "options": {"seed": 1}, "phases": [], "work": {"edges": 4}}
COLUMNS = {
    "request": to_json(POINT.request.as_dict()),
    "graph": to_json(POINT.graph),
    "machine": json.dumps(POINT.machine),
    "result": json.dumps(RESULT),
}


def _record(texts: list[str | None]) -> store.Record:
    decoded = Columns("fuzz.db", {}).decode("key", tuple(texts))
    return store.Record("key", "done", "1", "1", *decoded, None, None, 1.0, "host", 1.0)  # type: ignore[arg-type]


def _stored(data: bytes, _: Path) -> None:
    """A row with damaged columns, and what a user asks of it."""
    found = [content.decode("utf-8", "replace") for _, content in split(data)][:4]
    record = _record([*found, *list(COLUMNS.values())[len(found) :]])
    row = rows.flat_row(record)
    rows.default_columns([row, row])
    rows.sort([row, row], ["graph"])
    designs.asked(record)


ROWS = [rows.flat_row(_record(list(COLUMNS.values()))) for _ in range(2)]


def _where(data: bytes, _: Path) -> None:
    text = _text(data)
    rows.where(ROWS, [text])
    rows.sort(ROWS, [text.partition("=")[0].strip()])


def _database(data: bytes, folder: Path) -> None:
    path = folder / "runs.db"
    path.write_bytes(data)
    for left in ("runs.db-wal", "runs.db-shm"):
        (folder / left).unlink(missing_ok=True)
    with store.Store(path, readonly=True) as ledger:
        ledger.statuses()
        for record in ledger.records():
            rows.flat_row(record)


def _database_seed() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.db")
        with store.Store(path) as ledger:
            ledger.finish(POINT, COLUMNS["result"], "host", 1.0)
            ledger._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            ledger._db.execute("PRAGMA journal_mode = DELETE")
        return path.read_bytes()


KEPT = CsrGraph.from_edges(np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([4, 5, 6]), name="kept")


CACHE = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
cache.cache_directory = lambda: CACHE  # not the user's


def _cached(data: bytes, _: Path) -> None:
    """A damaged entry is none; what is fetched is what was kept."""
    (CACHE / "entry.npz").write_bytes(data)
    found = cache.fetch("entry")
    assert found is None or found.content_hash == KEPT.content_hash


def _cache_seed() -> bytes:
    cache.keep("entry", KEPT)
    return (CACHE / "entry.npz").read_bytes()


NAMES = [b"kron-5", b"grid-3x3x2", b"human@1/4096", b"web-50-3.5~random", b"a.tar::b.el", b"delaunay@0.001~degree"]
TESTS = [b"gpu = 'tx1' and microseconds<1e6", b"graph ~ grid", b"l2.ways>=8", b'unit=none and check != "fail"']
SETTINGS = [b"l2.size_bytes=1048576", b"sm.policy=lrr", b"clocks.core_mhz=900.5", b"ideal.noc=true", b"dram.channels=2"]

TARGETS: dict[str, Target] = {
    **{f"graph {name}": Target(_graph(name), seeds) for name, seeds in GRAPHS.items()},
    "graph any": Target(_graph("any"), [seed for seeds in GRAPHS.values() for seed in seeds]),
    "graph gz": Target(_graph("a.el", packed), [*GRAPHS["a.el"], *GRAPHS["a.gr"]], 3),
    "graph gz, damaged": Target(_graph("a.el"), [packed(seed) for seed in GRAPHS["a.el"]], 3),
    "graph tar": Target(_graph("a.tar", as_tar), [joined({"a/a.el": b"0 1\n", "a/b.txt": b"0 1\n"})], 3),
    "graph tar, damaged": Target(_graph("a.tar"), [as_tar(joined({"a.el": b"0 1\n"}))], 5),
    "graph npz": Target(_graph("a.npz", as_zip), _npz_seeds()),
    "graph npz, damaged": Target(_graph("a.npz"), [as_zip(seed) for seed in _npz_seeds()], 5),
    "graph webgraph": Target(_webgraph, _webgraph_seeds()),
    "graph graphalytics": Target(_graphalytics, [joined(_PAIR)], 5),
    "graph names": Target(_name, NAMES),
    "trace": Target(_trace, [TRACE]),
    "trace list": Target(_kernels, [b"MemcpyHtoD,0x7f3a00000000,4096\nkernel-1.traceg\n"], 3),
    "machine": Target(_machine, [MACHINE], 2),
    "--set": Target(_set, SETTINGS, 2),
    "sweep": Target(_sweep, [SWEEP], 2),
    "--where": Target(_where, TESTS),
    "store row": Target(_stored, [joined({name: text.encode() for name, text in COLUMNS.items()})]),
    "store file": Target(_database, [_database_seed()], 3),
    "cache": Target(_cached, [_cache_seed()], 3),
}
