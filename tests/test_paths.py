"""Paths that a command is to write to: refused before the run, in words that say what to do."""

from pathlib import Path

import pytest

from warpsift.paths import PathError, check_output


@pytest.mark.parametrize(
    ("suffixes", "forms"),
    [
        ((".csv",), "something.csv"),
        ((".csv", ".txt"), "something.csv or .txt"),
        ((".a", ".b", ".c"), "something.a, .b or .c"),
    ],
)
def test_endings_are_listed(tmp_path, suffixes, forms):
    with pytest.raises(PathError) as problem:
        check_output(tmp_path / "table.xls", "--table", suffixes)
    assert str(problem.value).endswith(f"table.xls: name it {forms}")
    check_output(tmp_path / f"table{suffixes[-1]}", "--table", suffixes)


def test_folders_are_asked_for_first(tmp_path):
    with pytest.raises(PathError, match=r"there is no folder"):
        check_output(tmp_path / "no" / "a.csv", "--csv")
    with pytest.raises(PathError, match=r"this is a folder; name a file"):
        check_output(Path(tmp_path), "--csv")
