"""A unit in a package of its own (examples/hot-lines) is found by its entry point and keeps the contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment in which the package is installed, beside this warpsift."""
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(folder), str(ROOT / "examples" / "hot-lines")], check=True)
    paths = [str(folder), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def warpsift(environment, *arguments):
    command = [sys.executable, "-m", "warpsift.cli", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_runs_by_name(installed):
    arguments = ("--graph", "kron-7", "--gpu", "tx1", "--unit", "hot-lines", "--json")
    done = warpsift(installed, "run", "bfs", *arguments)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    counters = result["counters"] if "counters" in result else result["timing"]["counters"]
    assert result["check"] == "pass"
    assert counters["hot_lines_reads"] == counters["hot_lines_counted"] + counters["hot_lines_replaced"] > 0


def test_its_section_of_a_machine_and_its_area(installed):
    small, large = (
        json.loads(warpsift(installed, "area", "hot-lines", "--set", f"hot_lines.entries={n}", "--json").stdout)
        for n in (16, 256)
    )
    assert 0 < small["total_mm2"] < large["total_mm2"]
    wrong = warpsift(installed, "run", "bfs", "--graph", "kron-5", "--gpu", "tx1", "--set", "hot_lines.entries=0")
    assert wrong.returncode == 2
    assert "hot_lines.entries = 0: write 1 to 1024 counters per slice" in wrong.stderr


def test_finds_the_hottest_lines(installed):
    """With an entry for every line the monitor counts exactly what a dictionary counts."""
    text = """
import warpsift
from collections import Counter
from hot_lines.hot_lines_engine import hottest
import hot_lines.hot_lines_engine
result = warpsift.simulate("bfs", "kron-5", gpu="tx1", unit="hot-lines", overrides={"hot_lines.entries": 1024})
found = hottest(result.engine, 10**6)
counters = result.timing["counters"]
assert sum(count for _, count in found) == counters["hot_lines_reads"], (sum(c for _, c in found), counters)
assert len({line for line, _ in found}) == len(found) == counters["hot_lines_replaced"]
print("same")
"""
    done = subprocess.run([sys.executable, "-c", text], env=installed, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "same", done.stderr


def test_keeps_the_contract(installed):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "hot-lines"]
    done = subprocess.run(
        [*command, str(ROOT / "tests" / "units" / "test_unit_contract.py")],
        env=installed,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "." in done.stdout.splitlines()[0], done.stdout  # pytest ends with 5, not 0, when it finds no test
