"""What `help(warpsift.simulate)` lists: algorithms, styles, units, machines and options, from their declarations."""

from __future__ import annotations

import textwrap
from dataclasses import MISSING, Field, fields
from typing import Any

from warpsift.algorithms import ALGORITHMS, Options
from warpsift.machines import machine_names
from warpsift.run.request import LOADING, Request
from warpsift.units.registry import unit_names

WIDTH = 96
_POSITIONAL = ("algorithm", "graph", "options")


def with_choices(text: str) -> str:
    """A docstring with the lists of what may be chosen at its end."""
    styles = sorted({style for algorithm in ALGORITHMS.values() for style in algorithm.styles})
    names = {
        "algorithm": ", ".join(f"{a.name} ({a.title})" for a in ALGORITHMS.values()),
        "style": ", ".join(styles),
        "unit": ", ".join(unit_names()) + "; several joined by +",
        "gpu": ", ".join(machine_names()) + "; or the path of a machine file",
    }
    parts = [textwrap.dedent(f"    {text}").strip(), "\nNames:"]
    parts += [_entry(name, value) for name, value in names.items()]
    request = [f for f in fields(Request) if f.name not in _POSITIONAL]
    parts += ["\nThe run:", *(_option(f) for f in request if f.name not in LOADING)]
    parts += ["\nLoading a graph that is given by name:", *(_option(f) for f in request if f.name in LOADING)]
    parts += ["\nThe algorithm:", *_options_of_algorithms()]
    return "\n".join(parts) + "\n"


def _options_of_algorithms() -> list[str]:
    """Every option once, with the algorithms that have it where not all do."""
    owners: dict[str, list[str]] = {}
    found: dict[str, Field[Any]] = {}
    for algorithm in ALGORITHMS.values():
        for each in fields(getattr(algorithm, "options", Options)):
            found.setdefault(each.name, each)
            owners.setdefault(each.name, []).append(algorithm.name)
    everybody = len(ALGORITHMS)
    return [_option(f, owners[name] if len(owners[name]) < everybody else []) for name, f in found.items()]


def _option(declared: Field[Any], owners: list[str] | None = None) -> str:
    """name=default, what it is for, what it may be: as far as it is declared."""
    about = next((value for value in declared.metadata.values() if hasattr(value, "help")), None)
    default = {} if declared.default is MISSING else declared.default
    words = [about.help] if about is not None and about.help else []
    if about is not None and about.choices:
        words.append("One of " + ", ".join(map(repr, about.choices)) + ".")
    if owners:
        words.append(f"({', '.join(owners)})")
    return _entry(f"{declared.name}={default!r}", " ".join(words))


def _entry(name: str, text: str) -> str:
    """`name` and its text beside it, further lines below the text."""
    return (
        textwrap.fill(text, WIDTH, initial_indent=f"  {name:<28}", subsequent_indent=" " * 30) if text else f"  {name}"
    )
