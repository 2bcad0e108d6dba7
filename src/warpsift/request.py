"""A request: everything that decides a run, as plain data.

Two equal requests on equal graphs give equal results, so a request is what results are stored under.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any

from warpsift.algorithms import ALGORITHMS, Algorithm, Options
from warpsift.errors import WarpsiftError
from warpsift.graph import CsrGraph, load_graph


class RequestError(WarpsiftError):
    """A request that names something warpsift does not have."""


# Field of `Request` -> argument of `load_graph`.
LOADING = {
    "symmetrise": "symmetrise",
    "drop_self_loops": "drop_self_loops",
    "merge_duplicates": "merge_duplicates",
    "graph_seed": "seed",
    "graph_format": "format",
}


@dataclass(frozen=True)
class Request:
    """What to run. `gpu` None runs and counts without timing."""

    algorithm: str
    graph: str
    style: str = "frontier"
    unit: str = "none"  # what it accelerates decides the style
    gpu: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)  # machine parameters, such as {"l2.ways": 8}
    options: Options = field(default_factory=Options)
    check: bool = True
    visibility_ctas: int | None = None
    sample_interval_cycles: int = 0  # 0: no samples for a timeline
    # How the graph is loaded; `load_graph` says what each means.
    symmetrise: bool = False
    drop_self_loops: bool = False
    merge_duplicates: bool = False
    graph_seed: int = 1  # of generated graphs and random orders
    graph_format: str | None = None  # None: from the file's name and content

    def __post_init__(self) -> None:
        if self.visibility_ctas is not None and self.visibility_ctas < 0:
            raise RequestError(
                f"visibility_ctas {self.visibility_ctas}: expected an integer from 0 up (0: a whole wave)"
            )

    def as_dict(self) -> dict[str, Any]:
        return asdict(replace(self, overrides=dict(self.overrides)))

    @property
    def loading(self) -> dict[str, Any]:
        """The keyword arguments of `load_graph`."""
        return {argument: getattr(self, name) for name, argument in LOADING.items()}

    def load(self) -> CsrGraph:
        return load_graph(self.graph, **self.loading)


# The style that each unit accelerates; its baseline is the plain GPU in that style.
UNIT_STYLES = {"scu": "frontier", "scu-basic": "frontier", "mff": "vertex"}
_REQUEST_FIELDS = {f.name for f in fields(Request)} - {"options"}
_OPTION_FIELDS = {f.name for f in fields(Options)}


def make_request(algorithm: str, graph: str, choices: Mapping[str, Any]) -> Request:
    """A request from keyword arguments, which may name fields of `Request` and of `Options` alike."""
    request = Request(algorithm, graph)
    own = {k: v for k, v in choices.items() if k in _REQUEST_FIELDS}
    options = {k: v for k, v in choices.items() if k in _OPTION_FIELDS}
    for name in choices:
        if name not in own and name not in options:
            raise RequestError(unknown("option", name, sorted(_REQUEST_FIELDS | _OPTION_FIELDS)))
    request = replace(request, **own, options=replace(Options(), **options))
    chosen = algorithm_named(algorithm)
    if request.style not in chosen.styles:
        raise RequestError(unknown("style", request.style, list(chosen.styles)))
    return _with_unit(request, "style" in own)


def not_combined(units: str) -> str:
    """Why there is no run with several units at once."""
    return (
        f"unit '{units}': the units cannot be combined, since they accelerate different styles of an "
        "algorithm (scu: frontier, mff: vertex); compare them with 'warpsift compare --units none,scu,mff'"
    )


def _with_unit(request: Request, style_was_chosen: bool) -> Request:
    """The style follows from the unit; a contradiction is an error."""
    if request.unit == "none":
        return request
    if "+" in request.unit:
        raise RequestError(not_combined(request.unit))
    if request.unit not in UNIT_STYLES:
        raise RequestError(unknown("unit", request.unit, ["none", *UNIT_STYLES]))
    style = UNIT_STYLES[request.unit]
    if style_was_chosen and request.style != style:
        raise RequestError(f"unit '{request.unit}' accelerates the {style} style; leave out style '{request.style}'")
    return replace(request, style=style)


def algorithm_named(name: str) -> Algorithm:
    if name not in ALGORITHMS:
        raise RequestError(unknown("algorithm", name, list(ALGORITHMS)))
    return ALGORITHMS[name]


def unknown(what: str, name: str, valid: list[str]) -> str:
    """An error message with the nearest valid name first."""
    near = get_close_matches(name, valid, 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"unknown {what} '{name}': {hint}choose one of {', '.join(valid)}"
