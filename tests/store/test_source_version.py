"""The version that results are stored under: every source that can change a result changes it, and no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.places import ROOT
from warpsift.store import source_version
from warpsift.store.source_version import hash_of, sources

PACKAGE = ROOT / "src" / "warpsift"


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("package") / "warpsift"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def edited(package: Path, name: str, *others: Path) -> bool:
    """Whether an edit of a file changes the version."""
    file = package / name
    before, text = hash_of(package, others), file.read_bytes()
    file.write_bytes(text + b"\n")
    after = hash_of(package, others)
    file.write_bytes(text)
    assert hash_of(package, others) == before
    return after != before


@pytest.mark.parametrize(
    "name",
    [
        "graph/weights.py",
        "graph/generators/rmat.py",
        "machines/spec.py",
        "simt/coalesce.py",
        "engine/l2/l2_slice.py",
        "algorithms/bfs/frontier.py",
        "costs/energy.py",
        "costs/tables/gtx980.toml",
        "units/scu/prices.toml",
        "units/scu/synthesis.csv",
        "units/registry.py",
        "run/execute.py",
        "sweep/work.py",
        "hardware.py",
    ],
)
def test_an_edit_of_what_makes_results_changes_the_version(copied, name):
    assert edited(copied, name)


@pytest.mark.parametrize("name", ["cli/app.py", "report/html.py", "studies/scale.py"])
def test_an_edit_of_what_shows_results_does_not(copied, name):
    assert not edited(copied, name)


def test_every_machine_file_counts():
    files = {path.name for path in sources() if path.suffix == ".toml"}
    assert {path.name for path in PACKAGE.rglob("gtx*.toml")} <= files


def test_units_of_other_packages_count(copied, tmp_path):
    other = tmp_path / "my_unit"
    other.mkdir()
    (other / "prices.toml").write_text("[event]\n")
    plain = hash_of(copied)
    with_unit = hash_of(copied, [other])
    (other / "prices.toml").write_text("[event] \n")
    assert len({plain, with_unit, hash_of(copied, [other])}) == 3


def test_the_folder_of_a_package_that_adds_a_unit_is_found(tmp_path, monkeypatch):
    other = tmp_path / "package_with_unit"
    other.mkdir()
    (other / "__init__.py").write_text("UNITS = ()\n")
    (tmp_path / "module_with_unit.py").write_text("UNITS = ()\n")
    monkeypatch.syspath_prepend(tmp_path)
    modules = ["package_with_unit", "module_with_unit"]
    monkeypatch.setattr("warpsift.units.registry.outside_modules", lambda: modules)
    assert list(source_version._other_packages()) == [other, tmp_path / "module_with_unit.py"]
