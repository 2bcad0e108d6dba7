"""The command line as a user types it: JSON, exit codes, error messages, interruption."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import warpsift
from support.command_line import call, complaints, interrupt_at_work, start
from warpsift.algorithms import ALGORITHMS
from warpsift.cli import application

# Importing the command line is interrupted.
INTERRUPTED_IMPORT = """
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "warpsift.cli":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from warpsift.__main__ import main
main()
"""


def test_run_prints_phases_work_and_the_verdict():
    done = call("run", "bfs", "--graph", "grid-20x20", "--source", "0")
    assert done.returncode == 0 and complaints(done.stderr) == []
    for word in ("expand", "contract", "edges touched", "check: pass (equal to SciPy's breadth-first order)"):
        assert word in done.stdout


@pytest.mark.parametrize(("algorithm", "style"), [(a.name, style) for a in ALGORITHMS.values() for style in a.styles])
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
    (complaint,) = complaints(done.stderr)
    assert complaint.startswith("error: ") and message in complaint


def test_wrong_option_is_exit_2():
    done = call("run", "bfs", "--graf", "kron-7")
    assert done.returncode == 2 and "--graf" in done.stderr


def test_help_has_examples():
    for words in (("run",), ("info",), ("list",)):
        done = call(*words, "--help")
        assert done.returncode == 0 and "Example" in done.stdout and "warpsift " + words[0] in done.stdout


def test_interruption_leaves_one_line():
    process = start("run", "pagerank", "--graph", "kron-15", "--style", "vertex", "--gpu", "gtx980")
    out, errors = interrupt_at_work(process)
    assert process.returncode == 130 and out == ""
    assert complaints("\n".join(errors)) == ["interrupted; nothing was written"]


def test_interruption_while_modules_are_imported_leaves_one_line():
    """Ctrl-C in the first second of the command's life."""
    code = "import sys; sys.argv = ['warpsift', '--help']\n" + INTERRUPTED_IMPORT
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted; nothing was written\n")


def test_version():
    assert call("--version").stdout == f"warpsift {warpsift.__version__}\n"


@pytest.mark.parametrize(
    ("typed", "wanted"), [("warpsift rep", "reproduce"), ("warpsift run --graph-f", "--graph-format")]
)
def test_completion(typed, wanted):
    words = {"_WARPSIFT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    code = "import sys; sys.argv = ['warpsift']; from warpsift.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **words}, capture_output=True, text=True)
    assert wanted in done.stdout.split()


def test_short_help_and_what_a_newcomer_needs_first():
    for words in (("-h",), ("--help",)):
        shown = CliRunner().invoke(application(), list(words))
        assert shown.exit_code == 0
        commands = re.findall(r"^  ([a-z]+) +[A-Z]", shown.stdout.partition("Commands:")[2], re.MULTILINE)
        assert commands[:4] == ["run", "compare", "info", "list"] and len(commands) == len(set(commands)) >= 14


def test_info_is_for_people():
    shown = CliRunner().invoke(application(), ["info", "grid-9x9"]).stdout
    assert re.search(r"^out degree +min 2, mean 3.556, max 4 *$", shown, re.MULTILINE)
    assert re.search(r"^size bytes +1 808 *$", shown, re.MULTILINE) and "{" not in shown


def test_keys_of_machine_files_are_listed():
    rows = json.loads(CliRunner().invoke(application(), ["list", "keys", "--json"]).stdout)
    ways = next(row for row in rows if row["key"] == "l2.ways")
    assert ways["unit"] == "ways" and re.fullmatch(r"1 to \d+", ways["range"]) and ways["why"]
    assert {row["key"] for row in rows} >= {"scu.width", "mff.ports", "dram.timing.cl"}


def test_a_place_for_traces_is_checked_before_anything_is_loaded(tmp_path):
    (tmp_path / "file").write_text("x")
    for place, why in ((tmp_path / "file", "is there already"), (tmp_path / "file" / "in", "cannot be written")):
        done = CliRunner().invoke(application(), ["run", "bfs", "--graph", "no-such", "--export-trace", str(place)])
        assert f"--export-trace {place}: " in str(done.exception) and why in str(done.exception)
