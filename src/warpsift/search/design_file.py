"""A found design as a machine file, to run, to extend and to keep."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpsift.report.provenance import command_of
from warpsift.run.request import Request
from warpsift.search.numbers_in_words import costs_in_words
from warpsift.search.search_file import SearchError
from warpsift.search.search_run import Found
from warpsift.search.tried import Tried

COSTS = "costs."  # prices are no part of a machine


def write_designs(found: Found, folder: Path, command: str) -> list[Path]:
    """A file for each design of the front; several where a reading changes the machine by algorithm."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for number, tried in enumerate(found.front, 1):
            machines = _machines(found.spec.requests(tried.design))
            for requests in machines:
                name = f"design-{number:02}" + ("" if len(machines) == 1 else f"-{requests[0].algorithm}")
                path = folder / f"{name}.toml"
                path.write_text(_text(tried, requests, path, command), encoding="utf-8")
                written.append(path)
    except OSError as error:
        raise SearchError(f"cannot write {folder}: {error.strerror or error}") from error
    return written


def _machines(requests: Sequence[Request]) -> list[list[Request]]:
    """Requests by the machine that they run on."""
    groups: dict[str, list[Request]] = {}
    for request in requests:
        groups.setdefault(f"{request.gpu} {sorted(request.overrides.items())}", []).append(request)
    return list(groups.values())


def _text(tried: Tried, requests: Sequence[Request], path: Path, command: str) -> str:
    first = requests[0]
    assert first.gpu is not None
    base = str(Path(first.gpu).resolve()) if first.gpu.endswith(".toml") else first.gpu
    lines = [f"# Found by: {command}", f"# {costs_in_words(tried.costs)}"]
    lines += [f"#   {_command(request, path)}" for request in requests]
    lines.append(f"extends = {_value(base)}")
    settings = {key: value for key, value in first.overrides.items() if not key.startswith(COSTS)}
    lines += [f"{key} = {_value(value)}" for key, value in settings.items()]
    return "\n".join(lines) + "\n"


def _command(request: Request, path: Path) -> str:
    """How to run it again: on the file instead of what it was made of."""
    asked = request.as_dict()
    prices = {key: value for key, value in request.overrides.items() if key.startswith(COSTS)}
    return command_of({**asked, "gpu": shlex.quote(str(path)), "overrides": prices, "reading": None})


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_value(each)}' for key, each in value.items())} }}"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
