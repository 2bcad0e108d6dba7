"""Machine files that are no machine files: one line that says what is wrong, exit code 2, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from warpsift.machines import MachineError, load_machine


def refused(path, overrides=None) -> str:
    with pytest.raises(MachineError) as error:
        load_machine(path, overrides)
    message = str(error.value)
    assert "\n" not in message and len(message) < 500
    return message


def write(folder, text, name="m.toml"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_not_utf8(tmp_path):
    path = write(tmp_path, b'extends = "gtx980"\ndescription = "\xff"\n')
    assert refused(path) == "machine file m.toml: byte 34 is not UTF-8; save it as UTF-8"


def test_a_folder(tmp_path):
    (tmp_path / "m.toml").mkdir()
    assert refused(tmp_path / "m.toml") == "machine file m.toml is a folder; give the path of a .toml file"


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.toml")
    assert "no regular file" in refused(tmp_path / "p.toml")


def test_too_large(tmp_path):
    path = write(tmp_path, b"#" * (1 << 21))
    assert "has 2097152 bytes; at most 1048576 are read" in refused(path)


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 5000 + "]" * 5000, "a = " + "{b=" * 5000 + "1" + "}" * 5000],
)
def test_deeply_nested_brackets(tmp_path, text):
    assert refused(write(tmp_path, text)) == "machine file m.toml: brackets are nested too deeply"


def test_deeply_nested_sections(tmp_path):
    assert refused(write(tmp_path, "[" + ".".join("a" * 5000) + "]\nb = 1\n")).startswith("unknown machine key 'a.a.a")
    text = 'extends = "gtx980"\n[l2' + ".x" * 3000 + "]\nb = 1\n"
    assert refused(write(tmp_path, text)).startswith("unknown machine key 'l2.x.x")


def test_thousands_of_digits(tmp_path):
    message = refused(write(tmp_path, f'extends = "gtx980"\n[sm]\ncount = {"9" * 5000}\n'))
    assert message.startswith("machine file m.toml: ") and message.endswith("; write a shorter number")
    message = refused(write(tmp_path, f'extends = "gtx980"\n[sm]\ncount = {"9" * 3000}\n'))
    assert message.startswith("machine 'm': sm.count = a very large number: write 1 to 255 SMs")
    assert refused("gtx980", {"sm.count": "9" * 5000}).endswith("key 'sm.count': Expected `int`, got `str`")
    assert refused("gtx980", {"sm.count": "[" * 5000}).endswith("key 'sm.count': Expected `int`, got `str`")


@pytest.mark.parametrize("base", ["m", "./m", "../{folder}/m"])
def test_a_file_that_extends_itself(tmp_path, base):
    path = write(tmp_path, f'extends = "{base.format(folder=tmp_path.name)}"\n')
    assert refused(path).endswith("extends itself: m.toml -> m.toml")


def test_two_files_that_extend_each_other(tmp_path):
    write(tmp_path, 'extends = "b"\n', "a.toml")
    write(tmp_path, 'extends = "a"\n', "b.toml")
    assert refused(tmp_path / "a.toml").endswith("extends itself: a.toml -> b.toml -> a.toml")


def test_a_long_chain(tmp_path):
    for n in range(40):
        write(tmp_path, f'extends = "m{n + 1}"\n', f"m{n}.toml")
    assert refused(tmp_path / "m0.toml").endswith("16 files extend one another; write fewer")


@pytest.mark.parametrize("value", ["5", "[1]", "{a = 1}", "true"])
def test_extends_is_a_name(tmp_path, value):
    assert "extends = " in refused(write(tmp_path, f"extends = {value}\n"))


@pytest.mark.parametrize("value", ["5", "[1]", '"../../x"', '"no\\u0000ne"'])
def test_a_memory_is_a_name(tmp_path, value):
    assert "for dram.extends: choose one of " in refused(
        write(tmp_path, f'extends = "gtx980"\n[dram]\nextends = {value}\n')
    )


def test_a_section_that_is_a_number(tmp_path):
    path = write(tmp_path, 'sm = 5\nextends = "gtx980"\n')
    message = "machine key 'sm' is a section: write [sm] and in it keys such as sm.count"
    assert refused(path) == message
    assert refused(path, {"sm.count": "3"}) == message
    path = write(tmp_path, 'extends = "gtx980"\n[dram]\ntiming = 5\n')
    assert refused(path, {"dram.timing.cl": 3}).startswith("machine key 'dram.timing' is a section")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b.toml", "x" * 5000 + ".toml", "\udcff.toml", ""])
def test_names_that_cannot_be_files(name):
    assert refused(name).startswith("no machine ")


def test_the_command_line_answers_in_one_line(tmp_path):
    path = write(tmp_path, 'sm = 5\nextends = "gtx980"\n')
    command = [sys.executable, "-m", "warpsift.cli", "run", "bfs", "--graph", "grid-3x3", "--gpu", str(path)]
    run = subprocess.run([*command, "--set", "sm.count=3"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr and "machine key 'sm' is a section" in run.stderr
