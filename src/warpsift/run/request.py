"""A request: everything that decides a run, as plain data.

Two equal requests on equal graphs give equal results, so a request is what results are stored under. Its fields, like
an algorithm's options, are declared once (`algorithms/options.py`), with help and range, for Python, command line and
sweep files alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from warpsift.algorithms import ALGORITHMS, Algorithm, Options
from warpsift.algorithms.options import check_declared, declaration_of, is_declared, joined, option, option_names
from warpsift.errors import WarpsiftError, unknown
from warpsift.graph import CsrGraph, load_graph
from warpsift.run.reading import decide, reading_named
from warpsift.units import Unit, resolve, units


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
    style: str = option("frontier", "How the algorithm is written; default: the first of its styles.")
    unit: str = option("none", "Special hardware, which decides the style (see 'warpsift list units').")
    gpu: str | None = option(None, "Time it on this machine (see 'warpsift list machines').")
    reading: str | None = option(
        None,
        "Choices for what the papers leave open: authors, hardware or a .toml file (see 'warpsift list readings').",
    )
    overrides: Mapping[str, Any] = field(default_factory=dict)  # machine parameters, such as {"l2.ways": 8}
    options: Options = field(default_factory=Options)  # of the algorithm and the unit
    check: bool = option(True, "Compare the answer with an independent one.")
    visibility_ctas: int | None = option(
        None, "CTAs that do not see each other's writes; 0: a whole wave; default: from the machine.", minimum=0
    )
    sample: int = option(
        0, "Time about one part in so many (say 20) and answer with 95 % intervals; 0: time all of it.", minimum=0
    )
    sample_interval_cycles: int = option(
        0, "Cycles between two samples of a timeline; 0: no samples.", minimum=0, on_command_line=False
    )
    timed: bool = option(
        True, "False: the machine decides waves and the unit's tables, but nothing is timed.", on_command_line=False
    )
    # How the graph is loaded; `load_graph` says what each means.
    symmetrise: bool = option(False, "Add the reverse of every arc.")
    drop_self_loops: bool = option(False, "Leave out arcs from a node to itself.")
    merge_duplicates: bool = option(False, "Keep one of several equal arcs.")
    graph_seed: int = option(1, "Of generated graphs and of the order GRAPH~random.", minimum=0)
    graph_format: str | None = option(None, "The file's format, if its name and content do not say.")

    def __post_init__(self) -> None:
        check_declared(self)
        self._check_sample()
        if self.overrides and self.gpu is None:
            changed = ", ".join(f"{key}={value}" for key, value in self.overrides.items())
            raise RequestError(f"{changed}: this changes a machine, but none is named; add --gpu gtx980 (gpu='gtx980')")

    def _check_sample(self) -> None:
        if self.sample == 1:
            raise RequestError("sample 1: one part in one is all of it; write 0, or 2 and more (--sample 20)")
        if self.sample and self.gpu is None:
            raise RequestError("--sample is about timing, but no machine is named; add --gpu gtx980 (gpu='gtx980')")
        if self.sample and self.sample_interval_cycles:
            raise RequestError("a timeline needs every cycle: leave out --sample")

    def as_dict(self) -> dict[str, Any]:
        return asdict(replace(self, overrides=dict(self.overrides)))

    @property
    def loading(self) -> dict[str, Any]:
        """The keyword arguments of `load_graph`."""
        return {argument: getattr(self, name) for name, argument in LOADING.items()}

    def load(self) -> CsrGraph:
        return load_graph(self.graph, **self.loading)


REQUEST_FIELDS = tuple(f.name for f in fields(Request) if f.name != "options")
DECLARED_FIELDS = tuple(f for f in fields(Request) if is_declared(f))


def options_type(algorithm: Algorithm, unit: Unit | None) -> type[Options]:
    """The options of an algorithm, with those that the unit adds."""
    if unit is None or unit.options is None:
        return algorithm.options
    return joined(algorithm.options, unit.options)


def all_options() -> dict[str, list[str]]:
    """Every option of any algorithm or unit, with the names of those that have it."""
    owners: dict[str, list[str]] = {}
    for algorithm in ALGORITHMS.values():
        for name in option_names(algorithm.options):
            owners.setdefault(name, []).append(algorithm.name)
    for unit in units().values():
        if unit.options is not None:
            for name in option_names(unit.options):
                if name not in option_names(Options):
                    owners.setdefault(name, []).append(f"unit {unit.name}")
    return owners


_NAMES = ("style", "unit", "gpu", "reading")  # choices that are names


def make_request(algorithm: str, graph: str, choices: Mapping[str, Any]) -> Request:
    """A request from keyword arguments, which may name fields of `Request` and options of algorithm and unit alike."""
    for name in _NAMES:
        if isinstance(choices.get(name), (int, float, list, tuple, dict)):  # a sweep file may say anything
            raise RequestError(f"{name} = {str(choices[name])[:40]}: expected a name in quotes")
    chosen = algorithm_named(algorithm)
    own = {name: value for name, value in choices.items() if name in REQUEST_FIELDS}
    unit = resolve(own.get("unit", "none"))
    known = options_type(chosen, unit)
    given = {name: value for name, value in choices.items() if name not in own}
    _read(own, given, (chosen, unit, known))
    for name in given:
        if name not in option_names(known):
            raise RequestError(_not_an_option(name, chosen, known))
    style = _style(chosen, unit, own.pop("style", None))
    request = Request(algorithm, graph, style=style, **own, options=known(**given))
    for f in fields(known):
        styles = declaration_of(f).styles
        if f.name in given and styles and style not in styles and given[f.name] != f.default:
            raise RequestError(
                f"option '{f.name}' is for the {' and '.join(styles)} style, but this run is in the {style} style: "
                f"leave it out, or choose style '{styles[0]}'"
            )
    return request


def _read(own: dict[str, Any], given: dict[str, Any], run: tuple[Algorithm, Unit | None, type[Options]]) -> None:
    """Add what the reading says, if there is one, wherever nothing else was said."""
    if own.get("reading") is None:
        return
    chosen, unit, known = run
    style = _style(chosen, unit, own.get("style"))
    said = decide(reading_named(own["reading"]), unit, style, chosen.name, own.get("gpu"))
    own["gpu"] = said.gpu
    own["overrides"] = {**said.overrides, **own.get("overrides", {})}
    reads = {f.name: declaration_of(f).styles for f in fields(known)}
    for name, value in said.options.items():
        if name in reads and (not reads[name] or style in reads[name]):
            given.setdefault(name, value)


def _style(chosen: Algorithm, unit: Unit | None, named: str | None) -> str:
    """The style that was named, or that follows from the unit; a contradiction is an error."""
    if named is not None and named not in chosen.styles:
        raise RequestError(unknown("style", named, list(chosen.styles)))
    if unit is None or unit.style is None:
        return named or chosen.usual_style
    unit.driver(chosen.name, None)  # a clear sentence if there is none
    if named is not None and named != unit.style:
        raise RequestError(f"unit '{unit.name}' accelerates the {unit.style} style; leave out style '{named}'")
    return unit.style


def _not_an_option(name: str, chosen: Algorithm, known: type[Options]) -> str:
    """What to say of an option that this algorithm does not have: who has it, or what was meant."""
    owners = all_options().get(name)
    if owners:
        return f"'{name}' is an option of {', '.join(owners)}, not of {chosen.name}: leave it out"
    names = sorted({*REQUEST_FIELDS, *option_names(known)})
    return unknown(f"option of {chosen.name}", name, names, f"'warpsift run {chosen.name} --help'")


def algorithm_named(name: str) -> Algorithm:
    if name not in ALGORITHMS:
        raise RequestError(unknown("algorithm", name, list(ALGORITHMS)))
    return ALGORITHMS[name]
