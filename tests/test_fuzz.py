"""The fuzzer itself: it counts loads and refusals, and sees every kind of bug."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parent / "fuzz"
PLANTED = """
import random, sys, tempfile
from pathlib import Path
sys.path.insert(0, {fuzz!r})
import targets
from warpsift.errors import WarpsiftError

def refuse(data, folder): raise WarpsiftError("no")
def crash(data, folder): raise KeyError("yes")
def spin(data, folder):
    for _ in range(10**7): pass
def hoard(data, folder): bytearray(600 << 20)
def babble(data, folder): raise WarpsiftError("this machine's memory")

ways = dict(load=lambda data, folder: None, refuse=refuse, crash=crash, spin=spin, hoard=hoard, babble=babble)
targets.TARGETS = {{name: targets.Target(run, [b"x"]) for name, run in ways.items()}}
import importlib.util, limits
spec = importlib.util.spec_from_file_location("fuzz_main", {fuzz!r} + "/__main__.py")
main = importlib.util.module_from_spec(spec)
spec.loader.exec_module(main)
main.HERE = Path({found!r})
fuzzer = main.Fuzzer(1, Path({found!r}), "")
limits.SECONDS = 0.05
limits.allow_memory()
fuzzer.begin()
print({{name: dict(counts) for name, counts in fuzzer.counts.items()}})
sys.exit(fuzzer.report(1.0))
"""


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=300)


def test_the_fuzzer_sees_every_kind_of_bug(tmp_path):
    done = run("-c", PLANTED.format(fuzz=str(FUZZ), found=str(tmp_path)))
    assert done.returncode == 1, done.stderr
    counts = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    bugs = {name: {"other": 1} for name in ("crash", "spin", "hoard", "babble")}
    assert eval(counts) == {"load": {"clean load": 1}, "refuse": {"clean error": 1}, **bugs}
    kept = sorted(path.name.partition("-")[0] for path in (tmp_path / "found").rglob("*-*"))
    assert kept == ["KeyError", "MemoryError", "TooSlow", "WarpsiftError"]


def test_a_few_inputs_of_every_target():
    done = run(str(FUZZ), "--minutes", "0.05", "--seed", "1")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[0] == "seed 1"
    assert done.stdout.splitlines()[-2].split()[0] == "all"
