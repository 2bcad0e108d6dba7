"""CACTI 7, the published model of on-chip memories: build it, describe an array to it, read its answer.

CACTI (Muralimanohar, Balasubramonian, Jouppi; HP Labs) takes the organisation of a memory and returns its access
time, energy per access, leakage and area. Its source travels in the source package `hwcomponents-cacti`; only the
C++ in it is used here, with configurations of our own (`tables/cacti_template.cfg`: high-performance ITRS cells,
350 K), because the wrapper's classes force low-standby-power cells at 300 K.

`python -m warpsift.costs.cacti` regenerates `tables/cacti_arrays.csv`, which is what everything else reads.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path

import platformdirs

from warpsift.costs.cost_errors import CactiError

SOURCE_PACKAGE = "hwcomponents-cacti==1.0.40"
SOURCE_SHA256 = "14d6541f28e7caabe2416ef29d0afc447885622c2657f6bcc69d00a15450d2bd"
KINDS = ("ram", "fifo", "cache", "cam")
NODES_NM = (22, 28, 32, 40, 45)  # 22, 32, 45 are CACTI's own tables; 28 and 40 its interpolation between them


@dataclass(frozen=True)
class Array:
    """One memory: `ram` has one read-write port, `fifo` one read and one write port, `cam` a search port besides."""

    kind: str
    node_nm: int
    word_bits: int  # what one access reads or writes; of a `cam`, the width of an entry
    associativity: int  # 1 except for a `cache`
    size_bytes: int


@dataclass(frozen=True)
class Figures:
    """What CACTI says of one array, at the supply voltage of its ITRS node (see `cacti_table.VOLTAGE_V`)."""

    access_ns: float
    cycle_ns: float
    search_pj: float  # 0 except for a `cam`
    read_pj: float
    write_pj: float
    leakage_mw: float
    area_mm2: float


def config_text(array: Array) -> str:
    """The exact CACTI input for an array."""
    if array.kind not in KINDS:
        raise CactiError(f"unknown kind of array {array.kind!r}; write one of {', '.join(KINDS)}.")
    template = resources.files("warpsift.costs").joinpath("tables/cacti_template.cfg").read_text()
    two_ported = array.kind in ("fifo", "cam")
    return template.format(
        size_bytes=array.size_bytes,
        block_bytes=128 if array.kind == "cache" else array.word_bits // 8,
        associativity=0 if array.kind == "cam" else array.associativity,
        read_write_ports=0 if two_ported else 1,
        read_ports=1 if two_ported else 0,
        write_ports=1 if two_ported else 0,
        search_ports=1 if array.kind == "cam" else 0,
        node_um=f"{array.node_nm / 1000:.3f}",
        word_bits=array.word_bits,
        cache_type={"fifo": "ram"}.get(array.kind, array.kind),
    )


def run(array: Array, binary: Path) -> Figures:
    """Ask a built CACTI about one array. It exits with 0 even when it fails, so its output file decides."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "array.cfg")
        config.write_text(config_text(array))
        done = subprocess.run(
            [str(binary), "-infile", str(config)],
            cwd=binary.parent,  # CACTI reads tech_params/ beside its binary
            capture_output=True,
            text=True,
            check=False,
        )
        answer = Path(folder, "array.cfg.out")
        if not answer.exists():
            said = [line for line in done.stdout.splitlines() if "ERROR" in line] or ["no output file"]
            raise CactiError(f"CACTI has no solution for {array}: {said[0].strip()}")
        row = {k.strip(): v.strip() for k, v in next(csv.DictReader(answer.open())).items() if k}
    search = row["Dynamic search energy (nJ)"]
    return Figures(
        access_ns=float(row["Access time (ns)"]),
        cycle_ns=float(row["Random cycle time (ns)"]),
        search_pj=0.0 if search == "N/A" else float(search) * 1e3,
        read_pj=float(row["Dynamic read energy (nJ)"]) * 1e3,
        write_pj=float(row["Dynamic write energy (nJ)"]) * 1e3,
        leakage_mw=float(row["Standby leakage per bank(mW)"]),
        area_mm2=float(row["Area (mm2)"]),
    )


def build(folder: Path | None = None) -> Path:
    """A CACTI binary: $CACTI_BINARY, one built before, or one built now from the source package (about 20 s)."""
    given = os.environ.get("CACTI_BINARY")
    if given:
        if not Path(given).is_file():
            raise CactiError(f"CACTI_BINARY names {given}, which is not a file; unset it or name a built cacti.")
        return Path(given)
    folder = folder or Path(platformdirs.user_cache_dir("warpsift"), "cacti")
    ready = sorted(folder.glob("**/cacti/cacti"))
    if ready:
        return ready[0]
    folder.mkdir(parents=True, exist_ok=True)
    _fetch(folder)
    makefiles = sorted(folder.glob("**/cacti/cacti.mk"))
    if not makefiles:
        raise CactiError(f"CACTI's source ({SOURCE_PACKAGE}) could not be fetched by pip; is there a network?")
    try:
        done = subprocess.run(["make", "opt"], cwd=makefiles[0].parent, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise CactiError("CACTI needs make and a C++ compiler to build; install them.") from error
    binary = makefiles[0].parent / "cacti"
    if not binary.exists():
        raise CactiError(f"CACTI did not build: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    return binary


def _fetch(folder: Path) -> None:
    """Unpack the source package below a folder.

    The package asks for a newer Python than ours only for its wrapper. pip therefore fails when it asks the package
    for its metadata; but by then it has unpacked the source, and with --no-clean it leaves it there.
    """
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{SOURCE_PACKAGE} --hash=sha256:{SOURCE_SHA256}\n")
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-clean", "--no-deps", "--require-hashes"]
    command += ["--ignore-requires-python", "--no-build-isolation", "--no-binary", "hwcomponents-cacti"]
    command += ["--retries", "1", "--timeout", "20", "--dest", str(folder), "--requirement", str(wanted)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    subprocess.run(command, env=environment, capture_output=True, check=False)
    for archive in folder.glob("*.tar.gz"):  # a new Python: pip succeeded and saved the package itself
        subprocess.run(["tar", "xzf", archive.name], cwd=folder, check=True)


def grid() -> Iterator[Array]:
    """The arrays in the shipped table: every kind over powers of two of size, at every node."""

    def sizes(first: int, last: int) -> list[int]:
        return [1 << k for k in range(first, last + 1)]

    families = [("ram", bits, 1, sizes(9, 19)) for bits in (32, 64, 128)]
    families += [("ram", 256, 1, sizes(10, 19)), ("ram", 1024, 1, sizes(13, 19))]
    families += [("fifo", bits, 1, sizes(10, 18)) for bits in (64, 128, 256)]
    families += [("cache", 256, 4, sizes(14, 19)), ("cache", 256, 16, sizes(15, 21))]
    families += [("cam", 32, 1, sizes(6, 13))]
    for node_nm in NODES_NM:
        for kind, word_bits, ways, all_sizes in families:
            for size_bytes in all_sizes:
                yield Array(kind, node_nm, word_bits, ways, size_bytes)


def main() -> None:
    """Regenerate the shipped table."""
    binary = build()
    target = Path(str(resources.files("warpsift.costs").joinpath("tables/cacti_arrays.csv")))
    names = [f.name for f in fields(Array)] + [f.name for f in fields(Figures)]
    rows = []
    for array in grid():
        try:
            rows.append({**asdict(array), **asdict(run(array, binary))})
        except CactiError as error:
            print(f"left out: {error}", file=sys.stderr)
    with target.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} arrays written to {target}")


if __name__ == "__main__":
    main()
