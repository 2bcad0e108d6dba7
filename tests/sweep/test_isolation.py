"""Nothing that lies in the working directory is run, and compiled code is loaded only from private folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpsift.private_folder import NUMBA_FOLDER, REPLACEMENT, code_folder, guard_numba, problem_of

# `-P`: Python itself would put the working directory first for `-m`; the installed command does not.
WARPSIFT = [sys.executable, "-P", "-m", "warpsift.cli"]
TRAP = "open('ran', 'w').close()\nraise ImportError('code of the working directory')\n"


def call(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*WARPSIFT, *words], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )


def test_code_beside_a_sweep_file_never_runs(tmp_path):
    (tmp_path / "s.toml").write_text('[[grid]]\nalgorithm = "bfs"\ngraph = "grid-4x4"\nseed = [1, 2]\n')
    for module in ("queue", "warpsift", "struct"):
        (tmp_path / f"{module}.py").write_text(TRAP)
    done = call(tmp_path, "sweep", "s.toml", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 points" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_code_beside_a_design_never_runs_in_yosys(tmp_path):
    pytest.importorskip("pyosys")
    for module in ("pyosys", "struct"):
        (tmp_path / f"{module}.py").write_text(TRAP)
    code = "from warpsift.hdl import yosys; yosys.run('design -reset', what='nothing')"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


def test_every_child_starts_without_the_working_directory():
    """Who starts Python anew anywhere in the package must say -P."""
    package = Path(__file__).parents[1] / "src" / "warpsift"
    for path in package.rglob("*.py"):
        text = path.read_text()
        assert text.count("sys.executable") == text.count('sys.executable, "-P"'), path


def test_a_file_in_the_working_directory_does_not_move_the_code(tmp_path):
    pytest.importorskip("yaml")
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: planted\n")
    done = call(tmp_path, "info", "grid-4x4")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "planted").exists()


# Private folders.


@pytest.fixture
def tidy(monkeypatch):
    """A replacement that a test causes is forgotten after it."""
    monkeypatch.setenv(REPLACEMENT, "")


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o722])
def test_a_folder_that_others_can_write_is_refused(tmp_path, tidy, capsys, mode):
    shared = tmp_path / "engine"
    shared.mkdir()
    shared.chmod(mode)
    used = code_folder(shared)
    assert used != shared and problem_of(used) is None and used.stat().st_mode & 0o777 == 0o700
    line = f"warpsift: {shared} can be written by other users; code compiled now is not kept\n"
    assert capsys.readouterr().err == line
    assert code_folder(tmp_path / "traces").parent == used.parent  # and children inherit it
    assert capsys.readouterr().err == ""


def test_a_folder_that_others_can_rename_is_refused(tmp_path):
    (tmp_path / "open" / "engine").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    assert problem_of(tmp_path / "open" / "engine") == (
        f"lies in {tmp_path / 'open'}, which can be written by other users"
    )
    (tmp_path / "open").chmod(0o1777)  # as /tmp
    assert problem_of(tmp_path / "open" / "engine") is None


def test_a_cache_that_cannot_be_made_is_replaced(tmp_path, tidy, capsys):
    (tmp_path / "cache").write_text("a file where the folder should be")
    used = code_folder(tmp_path / "cache" / "engine")
    assert used.is_dir()
    assert capsys.readouterr().err == (
        f"warpsift: {tmp_path / 'cache' / 'engine'} cannot be made: Not a directory; code compiled now is not kept\n"
    )


def test_a_new_folder_is_private_whatever_the_umask(tmp_path, tidy):
    before = os.umask(0)
    try:
        assert problem_of(code_folder(tmp_path / "engine")) is None
    finally:
        os.umask(before)


def test_numbas_own_folder_is_watched_too(tmp_path, capsys):
    shared = tmp_path / "numba"
    shared.mkdir()
    shared.chmod(0o777)
    environment = {NUMBA_FOLDER: str(shared)}
    guard_numba(environment)
    assert environment == {NUMBA_FOLDER: ""}
    assert capsys.readouterr().err == (
        f"warpsift: NUMBA_CACHE_DIR={shared} can be written by other users; it is not used\n"
    )
    shared.chmod(0o700)
    environment = {NUMBA_FOLDER: str(shared)}
    guard_numba(environment)
    assert environment == {NUMBA_FOLDER: str(shared)}
    guard_numba(empty := {})
    assert empty == {NUMBA_FOLDER: ""}
