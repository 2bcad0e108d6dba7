"""The plan of the house: imports point one way, each file has a name of its own, each fact has one place.

Rooms are the folders and files directly under `src/warpsift`. `ORDER` lists them from the ground up. A room may import
from the rooms of earlier lines, never from later ones; rooms of one line do not know each other. So there is no cycle.
Imports inside functions count, those under `if TYPE_CHECKING` do not: they are not there when the program runs.
`warpsift/__init__.py` is the door (it names what lies inside) and no room.

Two places differ from what one might expect. `units` lies above `engine`, `algorithms` and `costs`: a unit plugs into
each of them, and they know its contract only by the callbacks and records that it hands in. `engine` lies below
`algorithms`, although neither imports the other: both only know `simt`, and a unit's engine component must not need an
algorithm.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import warpsift
from support.places import ROOT
from support.slow_tests import LONG, SLOW

PACKAGE = ROOT / "src" / "warpsift"
ORDER = (
    ("hardware", "host_cores", "host_memory", "printable", "remaining_time", "version", "watching"),
    ("errors", "private_folder"),
    ("paths",),
    ("graph", "machines"),
    ("simt",),
    ("engine",),
    ("algorithms",),
    ("costs",),
    ("units",),
    ("run",),
    ("store",),
    ("sweep",),
    ("report",),
    ("search", "studies", "traces", "validation", "hdl"),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: number for number, rooms in enumerate(ORDER) for room in rooms}
# Rooms that know the contract of units and no unit by name.
WITHOUT_UNITS = ("machines", "simt", "engine", "algorithms", "costs", "run", "store", "sweep", "report", "cli")
CONTRACT = {"unit", "registry", "combination"}  # modules of `units`, beside its folders, one per unit
SAME_NAME = {"__init__", "__main__", "frontier", "vertex"}  # the styles of every algorithm have the same names


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Dotted names that a module imports when it runs, at the top or inside functions, with their lines."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imports(ast.Module(node.orelse, []))
        elif isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that a reader sees the room"
            yield from ((f"{node.module}.{name.name}", node.lineno) for name in node.names)
        else:
            yield from imports(node)


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def edges() -> Iterator[tuple[str, str, str]]:
    """(room, imported name, place) for every import from another room."""
    for path in modules():
        for name, line in imports(parsed(path)):
            parts = name.split(".")
            if parts[0] == "warpsift" and parts[1] != room_of(path):
                yield room_of(path), name, f"{path.relative_to(ROOT)}:{line}"


def test_imports_of_functions_count_and_those_of_types_do_not():
    text = "if TYPE_CHECKING:\n    import a\nelse:\n    import b\ndef f():\n    from c import d\n"
    assert list(imports(ast.parse(text))) == [("b", 4), ("c.d", 6)]


def test_every_room_has_its_floor():
    assert {room_of(path) for path in modules()} == set(FLOOR)


def test_imports_point_one_way():
    wrong = [
        f"{place}: {room} must not import {name}"
        for room, name, place in edges()
        if FLOOR.get(name.split(".")[1], len(ORDER)) >= FLOOR[room]
    ]
    assert not wrong, "\n".join(wrong)


def test_units_are_known_by_their_contract_alone():
    wrong = [
        f"{place}: {room} must not know {name}"
        for room, name, place in edges()
        if room in WITHOUT_UNITS
        and name.startswith("warpsift.units.")
        and (PACKAGE / "units" / name.split(".")[2]).is_dir()
    ]
    assert not wrong, "\n".join(wrong)


def test_units_do_not_know_each_other():
    wrong = []
    for folder in (PACKAGE / "units").iterdir():
        for path in folder.rglob("*.py") if folder.is_dir() else ():
            for name, line in imports(parsed(path)):
                if name.startswith("warpsift.units.") and name.split(".")[2] not in CONTRACT | {folder.name}:
                    wrong.append(f"{path.relative_to(ROOT)}:{line}: {folder.name} must not import {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", [PACKAGE, ROOT / "tests"], ids=["src", "tests"])
def test_a_files_name_says_which_it_is(folder):
    places: dict[str, list[str]] = {}
    for path in folder.rglob("*.py"):
        if path.stem not in SAME_NAME | {"conftest"}:
            places.setdefault(path.stem, []).append(str(path.relative_to(ROOT)))
    assert [sorted(found) for found in places.values() if len(found) > 1] == []


def test_a_file_is_one_idea():
    long = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8").count("\n") for p in (ROOT / "tests").rglob("*.py")}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_public_names():
    names = {
        "simulate", "compare", "load_graph", "load_machine", "Engine", "Gpu", "kernel", "run_sweep", "time_trace",
        "WarpsiftError",  # the base of every error that a user can cause
        "__version__",
    }  # fmt: skip
    assert set(warpsift.__all__) == set(dir(warpsift)) == names
    for name in names:
        assert getattr(warpsift, name) is not None
    with pytest.raises(AttributeError, match="module 'warpsift' has no attribute 'simulat'"):
        warpsift.simulat  # noqa: B018


def test_the_version_has_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/warpsift/version.py"
    assert assigned("__version__") == ["version.py"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", warpsift.__version__)


@pytest.mark.parametrize("name", ["WARP_SIZE", "LINE_BYTES", "SECTOR_BYTES", "SECTORS_PER_LINE"])
def test_constants_of_the_hardware_have_one_place(name):
    assert assigned(name) == ["hardware.py"]


def assigned(name: str) -> list[str]:
    """Files of the package that give a value to a name."""
    return [
        str(path.relative_to(PACKAGE))
        for path in [PACKAGE / "__init__.py", *modules()]
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for one in (target.elts if isinstance(target, ast.Tuple) else [target])
        if isinstance(one, ast.Name) and one.id == name
    ]


def test_what_the_shorter_runs_leave_out_is_there():
    assert [place for place in (*SLOW, *LONG) if not (ROOT / "tests" / place).exists()] == []


def test_pages_name_tests_that_are_there():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"`(tests/[\w/]+\.py)`", page.read_text(encoding="utf-8"))}
    assert named and [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_what_is_run_by_hand_can_still_be_run():
    """`make torture` is too long for the suite; that it can be collected is not."""
    asked = [sys.executable, "-m", "pytest", "-q", "--collect-only", "tests/torture/torture_sweeps.py"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
