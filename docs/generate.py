"""Writes the pages of the documentation that come from the code: docs/reference/, and copies of the root's pages.

python docs/generate.py          (make docs runs it before the site is built)
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec
import typer

import warpsift
from warpsift.cli import application
from warpsift.engine.counters import COMPONENTS
from warpsift.machines import Machine
from warpsift.machines.ranges import declared
from warpsift.machines.unit_sections import spec_types
from warpsift.simt.collectives import CollectiveThreads, SharedArray
from warpsift.simt.global_memory import MemoryThreads
from warpsift.simt.threads import Threads
from warpsift.units import units

DOCS = Path(__file__).parent
MADE = "<!-- made by docs/generate.py -->\n"


def write(name: str, text: str) -> None:
    path = DOCS / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(MADE + text, encoding="utf-8")


def cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def table(head: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]) + "\n"


def first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def signature(function: Any) -> str:
    found = inspect.signature(function)
    shown = [str(p).split(":")[0] + (f"={p.default!r}" if p.default is not p.empty and ":" in str(p) else "")
             for n, p in found.parameters.items() if n != "self"]  # fmt: skip
    return f"({', '.join(shown)})"


def methods(owner: type, prefix: str) -> Iterator[tuple[str, str]]:
    for name, thing in vars(owner).items():
        if name.startswith("_"):
            continue
        if isinstance(thing, property) or hasattr(thing, "attrname"):
            text = first_line(thing)
        elif callable(thing):
            text, name = first_line(thing), name + signature(thing)
        else:
            continue
        if text:
            yield f"`{prefix}{name}`", text


def kernels() -> str:
    parts = [
        "# Kernel vocabulary\n",
        "What the `t` of a kernel can do.\n",
    ]
    groups: list[tuple[str, type, str]] = [
        ("Threads", Threads, "t."),
        ("Global memory", MemoryThreads, "t."),
        ("Warps and CTAs together", CollectiveThreads, "t."),
        ("Shared memory: what `t.shared(dtype, length)` gives", SharedArray, "array."),
    ]
    from warpsift.units.mff.mff_threads import FastForwardThreads, Target

    groups.append(("Memory fast-forward unit (after `bind_fast_forward(gpu, ...)`)", FastForwardThreads, "t."))
    groups.append(("Its target: what `t.pc_target(dtype)` gives", Target, "target."))
    for title, owner, prefix in groups:
        parts += [f"## {title}\n", table(("call", "what it does"), methods(owner, prefix))]
    return "\n".join(parts)


def machines() -> str:
    def rows(struct: type, prefix: str = "") -> Iterator[tuple[Any, ...]]:
        for key in declared(struct, prefix):
            default = "must be given" if key.default is msgspec.NODEFAULT else f"`{key.default}`"
            default = "empty" if key.default == "" else default
            yield f"`{key.key}`", key.unit, default, key.range, key.reason

    head = ("key", "unit", "default", "range", "why")
    parts = [
        "# Machine files\n",
        "A machine is a TOML file. `extends` names another, shipped or beside the file, and then only what differs "
        "is said. `[dram] extends` names a memory. `warpsift list machines` names the shipped files, which have the "
        "source of every number beside it: [gtx980](#gtx980-as-shipped), for one. `warpsift list keys` prints this "
        "table.\n",
        table(head, rows(Machine)),
    ]
    for section, kind in spec_types().items():
        parts += [f"## [{section}]\n", f"{first_line(kind)}\n", table(head, rows(kind, f"{section}."))]
    for title, name in (("gtx980, as shipped", "gtx980"), ("Its memory", "dram/gddr5-7010-gtx980")):
        text = (Path(warpsift.__file__).parent / "machines" / f"{name}.toml").read_text(encoding="utf-8")
        parts += [f"## {title}\n", f"```toml\n{text.rstrip()}\n```\n"]
    return "\n".join(parts)


def commands() -> str:
    root: Any = typer.main.get_command(application())
    parts = ["# Command line\n", "`warpsift COMMAND --help` prints the same.\n"]

    def walk(command: Any, path: str) -> None:
        context = click.Context(command, info_name=path)
        inner = command.list_commands(context) if hasattr(command, "list_commands") else []
        if path != "warpsift":
            text = command.get_help(context) if hasattr(command, "get_help") else ""
            parts.append(f"## {path}\n\n```text\n{text.rstrip()}\n```\n")
        for name in inner:
            walk(command.get_command(context, name), f"{path} {name}")

    walk(root, "warpsift")
    return "\n".join(parts)


def python() -> str:
    from warpsift.run.record import RunResult

    parts = ["# Python\n", "`import warpsift` gives:\n"]
    for name in warpsift.__all__:
        thing = getattr(warpsift, name)
        title = name + (signature(thing) if callable(thing) and not isinstance(thing, type) else "")
        parts.append(f"## {name}\n\n```text\n{title}\n\n{inspect.getdoc(thing) or ''}\n```\n")
    fields = [(f"`{name}`", cell(kind)) for name, kind in RunResult.__annotations__.items()]
    parts += ["## What a run gives\n", table(("field", "type"), iter(fields))]
    return "\n".join(parts)


def counters() -> str:
    def rows(group: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        return ((f"`{name}`", meaning) for name, meaning in group.items())

    parts = ["# Counters\n", "Sums over a launch, unless the name ends in `_peak`.\n"]
    for component, group in COMPONENTS.items():
        parts += [f"## {component}\n", table(("counter", "meaning"), rows(group))]
    seen: set[str] = set()
    for unit in units().values():
        if unit.section in seen:
            continue
        seen.add(unit.section)
        for part in unit.components():
            parts += [f"## Unit {unit.name}\n", table(("counter", "meaning"), rows(part.counters))]
    return "\n".join(parts)


def copied(name: str) -> str:
    """A page of the root with its links as they are from docs/; links to sources become their names."""
    text = (DOCS.parent / name).read_text(encoding="utf-8")
    text = text.replace("](docs/", "](")
    return re.sub(r"\[([^\]]+)\]\((?:src|examples|tests)/[^)]*\)", r"\1", text)


def main() -> None:
    write("reference/kernels.md", kernels())
    write("reference/machines.md", machines())
    write("reference/commands.md", commands())
    write("reference/python.md", python())
    write("reference/counters.md", counters())
    shutil.copyfile(DOCS.parent / "examples" / "sweep_and_report.ipynb", DOCS / "notebook.ipynb")  # the site runs it
    write("contributing.md", copied("CONTRIBUTING.md"))
    write("changelog.md", copied("CHANGELOG.md"))


if __name__ == "__main__":
    main()
