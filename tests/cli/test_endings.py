"""How commands end: one line and exit code 2 for what a user can cause, 70 and a report for a bug, 130 for Ctrl-C."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import warpsift
from warpsift.cli.app import console
from warpsift.errors import WarpsiftError
from warpsift.printable import one_line, printable

WARPSIFT = [sys.executable, "-P", "-m", "warpsift.cli"]


def call(*words: object, folder: Path | None = None) -> subprocess.CompletedProcess:
    command = [*WARPSIFT, *(word if isinstance(word, bytes) else str(word) for word in words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def python(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=600)


def refused(*words: object, folder: Path | None = None) -> str:
    """The one line with which a request is refused."""
    done = call(*words, folder=folder)
    assert done.returncode == 2, (done.returncode, done.stderr[-2000:])
    lines = without_progress(done.stderr)
    assert done.stdout == "" and len(lines) == 1
    assert lines[0].startswith("error: ") and len(lines[0]) <= 500
    return lines[0].removeprefix("error: ")


def without_progress(text: str) -> list[str]:
    """The lines that are not about work under way: on a busy machine there may be some."""
    return [line for line in text.splitlines() if not re.search(r", \d+ s$|^warpsift: compiling", line)]


RUN = ("run", "bfs", "--graph", "grid-4x4")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*RUN, "--seed", "-1"), "seed must be at least 0, not -1"),
        ((*RUN, "--max-iterations", "-5"), "max_iterations must be at least 1, not -5"),
        (("run", "sssp", *RUN[2:], "--delta", "nan"), "delta must be more than 0, not nan"),
        (("run", "pagerank", *RUN[2:], "--epsilon", "inf"), "epsilon must be a finite number, not inf"),
        ((*RUN, "--visibility-ctas", "-3"), "visibility_ctas must be at least 0, not -3"),
        ((*RUN, "--graph-seed", "-1"), "graph_seed must be at least 0, not -1"),
        (("info", "a" * 5000), f"no file and no graph has a name of 5000 letters: '{'a' * 40}'..."),
        (("info", "kron-" + "9" * 900), "graph 'kron-999"),
        (("run", "--trace", "a" * 5000), "no such file; --trace takes a folder"),
        ((*RUN, "--gpu", "gtx980", "--timeline", "b" * 5000 + "/x"), "--timeline bbb"),
        (("compare", *RUN[1:], "--gpu", "tx1", "--plot", "missing/x.png"), "there is no folder missing"),
        (("compare", *RUN[1:], "--gpu", "tx1", "--plot", "x.jpg"), "name it something.png, .svg or .pdf"),
        (("validate", "--plot", "x"), "--plot x: name it something.png, .svg or .pdf"),
        (("study", "caches", *RUN[2:], "--plot", "x.tiff"), "--plot x.tiff: name it something.png, .svg or .pdf"),
    ],
)
def test_wrong_requests_are_one_line_before_any_work(tmp_path, words, message):
    assert message in refused(*words, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_not_utf8(tmp_path):
    assert refused("info", b"no\xff.el", folder=tmp_path) == r"no\xff.el: no such file"
    name = os.fsdecode(b"odd\xff$1$.el")
    (tmp_path / name).write_text("0 1\n1 2\n")
    done = call("info", os.fsencode(name), folder=tmp_path)
    assert done.returncode == 0 and r"odd\xff$1$" in done.stdout
    assert call("run", "bfs", "--graph", os.fsencode(name), folder=tmp_path).returncode == 0


def test_a_format_can_be_told_to_info(tmp_path):
    (tmp_path / "list.mtx").write_text("0 1\n1 2\n")
    assert "--graph-format edge-list" in refused("info", "list.mtx", folder=tmp_path)
    done = call("info", "list.mtx", "--graph-format", "edge-list", folder=tmp_path)
    assert done.returncode == 0 and "edge-list" in done.stdout


# The last net.


def test_a_bug_is_one_line_and_a_report(tmp_path):
    code = "import warpsift.cli.guard as g, tempfile; tempfile.tempdir = {folder!r}\ng.guarded(lambda: 1 / 0)"
    done = python(code.format(folder=str(tmp_path)))
    assert done.returncode == 70 and done.stdout == ""
    found = re.fullmatch(
        r"error: a bug of warpsift \(ZeroDivisionError: division by zero\); please send us the report (.*)\n",
        done.stderr,
    )
    assert found is not None, done.stderr
    report = Path(found[1]).read_text()
    assert report.startswith("warpsift ") and "Traceback" in report and "1 / 0" not in done.stderr


def test_a_bug_with_no_place_for_a_report_is_still_one_line(tmp_path):
    code = "import warpsift.cli.guard as g, tempfile; tempfile.tempdir = {folder!r}\ng.guarded(lambda: [][1])"
    done = python(code.format(folder=str(tmp_path / "missing")))
    assert done.returncode == 70 and done.stderr.count("\n") == 1
    assert "no report of it could be written" in done.stderr


INTERRUPTED_IMPORT = """
import os, signal, sys
class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000): pass
            except KeyboardInterrupt:
                raise {answer}
sys.meta_path.insert(0, Hook())
sys.argv = ["warpsift", "info", "grid-4x4"]
from warpsift.cli import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "rich.console", "numpy", "numba"])
@pytest.mark.parametrize("answer", ["", "ImportError('no symbols') from None"])
def test_an_interrupt_during_the_imports(module, answer):
    done = python(INTERRUPTED_IMPORT.format(module=module, answer=answer))
    ending = (done.returncode, done.stdout, without_progress(done.stderr))
    assert ending == (130, "", ["interrupted; nothing was written"])


# What is shown.


def test_text_from_files_cannot_command_a_terminal(tmp_path, capsys):
    assert printable("a\x1b[31mb\x07\x9b\u202e\n\udcff é×…") == r"a\x1b[31mb\x07\x9b\u202e\n\xff é×…"
    assert str(WarpsiftError("bad \x1b]0;owned\x07 name")) == r"bad \x1b]0;owned\x07 name"
    console().print("x\x1b[2Jy", markup=False)
    assert capsys.readouterr().out == "x\\x1b[2Jy\n"
    path = tmp_path / "evil\x1b[2J.el"
    path.write_text("0 1\n")
    done = call("info", path)
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr and r"evil\x1b[2J" in done.stdout
    path.write_text("0 \x1b[2J\n")
    assert r"\x1b[2J" in refused("info", path)


def test_no_error_is_longer_than_a_screen_line_should_be():
    text = f"where: {'x' * 10_000} (what to write)"
    line = str(WarpsiftError(text))
    assert len(line) == 500 and line.startswith("where: xxx") and line.endswith("x (what to write)") and " ... " in line
    assert len(one_line("\x1b" * 10_000)) == 500
    assert str(WarpsiftError("short")) == "short"


def test_a_dollar_in_a_name_is_drawn_as_it_is(tmp_path):
    from warpsift.report.bars import draw
    from warpsift.run.comparison import compare

    (tmp_path / "cost$_{.el").write_text("0 1\n1 2\n2 0\n")
    comparison = compare("bfs", warpsift.load_graph(tmp_path / "cost$_{.el"), ["none", "scu"], gpu="tx1")
    draw(comparison, tmp_path / "bars.svg")
    assert (tmp_path / "bars.svg").stat().st_size > 1000
    with pytest.raises(WarpsiftError, match="cannot be written"):
        draw(comparison, tmp_path / "missing" / "bars.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bars.svg", "cost$_{.el"]


# What a run leaves behind.


def address_space_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) << 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_the_memory_of_a_run_is_released_when_it_ends():
    graph = warpsift.load_graph("grid-8x8")
    kept = [warpsift.simulate("bfs", graph, gpu="gtx980", check=False) for _ in range(2)]
    gc.collect()
    before = address_space_bytes()
    kept += [warpsift.simulate("bfs", graph, gpu="gtx980", check=False) for _ in range(4)]
    assert address_space_bytes() - before < 60 << 20  # an engine of this machine takes 50 MB
    assert kept[0].engine.total["cycles"] == kept[-1].engine.total["cycles"]
