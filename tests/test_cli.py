"""The command line as a user types it: JSON, exit codes, error messages, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

WARPSIFT = [sys.executable, "-m", "warpsift.cli"]


def call(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([*WARPSIFT, *words], capture_output=True, text=True, timeout=300)


def test_run_prints_phases_work_and_the_verdict():
    done = call("run", "bfs", "--graph", "grid-20x20", "--source", "0")
    assert done.returncode == 0 and "error" not in done.stderr
    for word in ("expand", "contract", "edges touched", "check: pass (equal to SciPy's breadth-first order)"):
        assert word in done.stdout


@pytest.mark.parametrize("style", ["frontier", "vertex"])
@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "pagerank", "wcc"])
def test_json_is_one_object(algorithm, style):
    done = call("run", algorithm, "--graph", "kron-7", "--style", style, "--json")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["check"] == "pass"
    assert result["warp_instructions"] > 0 and result["transactions"] > 0
    assert result["warp_instructions"] == sum(phase["warp_instructions"] for phase in result["phases"])
    assert result["work"]["edges_touched"] > 0


def test_info_and_lists():
    facts = json.loads(call("info", "grid-8x8", "--json").stdout)
    assert (facts["nodes"], facts["arcs"]) == (64, 224)
    names = {row["name"] for row in json.loads(call("list", "graphs", "--json").stdout)}
    assert {"ca", "cond", "delaunay", "human", "kron", "msdoor", "dblp-2010", "amazon-2008", "cnr-2000"} <= names
    assert "pagerank" in call("list", "algorithms").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "dfs", "--graph", "kron-7"), "unknown algorithm 'dfs': did you mean 'bfs'? choose one of"),
        (
            ("run", "bfs", "--graph", "kron-7", "--source", "-4"),
            "source -4 is not a node: the graph has nodes 0 to 127",
        ),
        (("run", "bfs", "--graph", "no-such-file.mtx"), "no-such-file.mtx: no such file"),
        (("run", "bfs", "--graph", "kron-7", "--gpu", "gtx481"), "gtx481"),
        (("run", "bfs", "--graph", "kron-7", "--gpu", "titanx", "--set", "l2.wayz=3"), "l2.wayz"),
        (("run", "bfs", "--graph", "kron-7", "--gpu", "titanx", "--set", "l2.ways"), "write --set KEY=VALUE"),
        (("run", "bfs", "--graph", "kron-7", "--gpu", "titanx", "--ideal", "l1"), "parts that can be ideal are"),
    ],
)
def test_wrong_requests_say_what_to_write(words, message):
    done = call(*words)
    assert done.returncode == 2 and done.stdout == ""
    error = done.stderr.splitlines()[-1]  # after lines of progress, on a busy machine
    assert error.startswith("error: ") and message in error
    assert "Traceback" not in done.stderr


def test_wrong_option_is_exit_2():
    done = call("run", "bfs", "--graf", "kron-7")
    assert done.returncode == 2 and "--graf" in done.stderr


def test_help_has_examples():
    for words in (("run",), ("info",), ("list",)):
        done = call(*words, "--help")
        assert done.returncode == 0 and "Example" in done.stdout and "warpsift " + words[0] in done.stdout


def test_interruption_leaves_one_line():
    process = subprocess.Popen(
        [*WARPSIFT, "run", "pagerank", "--graph", "kron-14", "--style", "vertex", "--epsilon", "1e-12"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == ""
    assert err.splitlines()[-1] == "interrupted; nothing was written"
    assert "Traceback" not in err
