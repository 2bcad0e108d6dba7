"""`make fuzz`: reads mutated inputs as commands would, and counts how each ended.

A clean load, or a clean error (one of ours: one line). Anything else is a bug: another exception, more than 2 s, or
more than 500 MB. The input of such a bug is kept in tests/fuzz/found; one that is mended belongs into
tests/fuzz/corpus/TARGET, from where every run begins.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
POOL = 300  # inputs of a target that others are made from
FLAWS_SHOWN = 20


class Fuzzer:
    def __init__(self, seed: int, folder: Path, only: str) -> None:
        from targets import TARGETS

        self.dice = random.Random(seed)
        self.folder = folder
        self.targets = {name: target for name, target in TARGETS.items() if only in name}
        self.pools = {name: [*target.seeds, *corpus(name)] for name, target in self.targets.items()}
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in self.targets}
        self.seconds: Counter[str] = Counter()
        self.flaws: set[str] = set()

    def begin(self) -> None:
        """All inputs as they are: compiles what they need, and shows that what was mended still is."""
        for name, pool in self.pools.items():
            for data in pool:
                with contextlib.suppress(Exception):  # once without limits, since compiling takes seconds
                    self.targets[name].run(data, self.folder)
                self.one(name, data)

    def one(self, name: str, data: bytes) -> str:
        from limits import TooSlow, limited

        from warpsift.errors import WarpsiftError

        ending, start = "clean load", time.process_time()
        try:
            with limited():
                self.targets[name].run(data, self.folder)
        except WarpsiftError as error:
            ending = "clean error"
            if "machine's memory" in str(error) or len(str(error)) > 500 or "\n" in str(error):
                ending = self.flaw(name, data, error)
        except (Exception, TooSlow) as error:
            ending = self.flaw(name, data, error)
        self.counts[name][ending] += 1
        self.seconds[name] += time.process_time() - start
        return ending

    def flaw(self, name: str, data: bytes, error: BaseException) -> str:
        """Keep the first input of each kind of bug."""
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "warpsift" in frame.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
        kind = f"{name}: {type(error).__name__} at {where}"
        if kind not in self.flaws and len(self.flaws) < FLAWS_SHOWN:
            self.flaws.add(kind)
            folder = HERE / "found" / name.replace(" ", "-")
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{type(error).__name__}-{where.replace(':', '-')}"
            path.write_bytes(data)
            print(f"{kind}: {str(error)[:200]!r}; the input is {path}", flush=True)
        return "other"

    def step(self) -> None:
        from mutate import mutated

        names = list(self.targets)
        (name,) = self.dice.choices(names, [self.targets[each].share for each in names])
        pool = self.pools[name]
        data = mutated(self.dice, self.dice.choice(pool), self.dice.choice(pool))
        if self.one(name, data) == "clean load" and len(data) < 10_000:
            if len(pool) < POOL:
                pool.append(data)
            else:
                pool[self.dice.randrange(len(self.targets[name].seeds), POOL)] = data

    def report(self, seconds: float) -> int:
        total: Counter[str] = sum(self.counts.values(), Counter())
        print(f"{'':20} {'inputs':>9} {'loads':>9} {'errors':>9} {'others':>7} {'us each':>8}")
        for name, counts in [*self.counts.items(), ("all", total)]:
            row = [sum(counts.values()), counts["clean load"], counts["clean error"], counts["other"]]
            each = 1e6 * (self.seconds[name] or self.seconds.total()) / max(row[0], 1)
            print(f"{name:20} {row[0]:9} {row[1]:9} {row[2]:9} {row[3]:7} {each:8.0f}")
        print(f"{seconds:.0f} s, {sum(total.values()) / max(seconds, 1e-9):.0f} inputs per second")
        return 1 if total["other"] else 0


def corpus(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((HERE / "corpus" / name.replace(" ", "-")).glob("*"))]


def main() -> int:
    options = argparse.ArgumentParser(prog="make fuzz", description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=5)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--only", default="", help="targets whose name contains this")
    chosen = options.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    quick = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk in memory, where there is one
    with tempfile.TemporaryDirectory(dir=quick) as folder:
        sys.path.insert(0, str(HERE))
        fuzzer = Fuzzer(chosen.seed, Path(folder), chosen.only)
        from limits import allow_memory

        warnings.simplefilter("error")  # it would be a second line on the screen
        fuzzer.begin()
        start = time.monotonic()
        number = 0
        with contextlib.suppress(KeyboardInterrupt):
            while time.monotonic() - start < 60 * chosen.minutes:
                if number % 500 == 0:
                    allow_memory()
                fuzzer.step()
                number += 1
        return fuzzer.report(time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
