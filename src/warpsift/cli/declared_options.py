"""Commands whose options come from declarations: fields of `Request`, of an algorithm's options, of a unit's.

What is declared once (`algorithms/options.py`) becomes a flag with its help, range and default. A command made here
calls its function with the values that were given and no others, so that defaults too stay where they are declared.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from typing import Annotated, Any, get_args

import typer
import typer.core
import typer.main

from warpsift.algorithms.options import Declaration, Options, declaration_of, flags_of, is_declared, option, types_of
from warpsift.cli.app import CONTEXT, JsonOption
from warpsift.errors import unknown

Given = dict[str, Any]  # what the user has written, by field
Parameter = inspect.Parameter
GRAPH_HELP = "A file, or a name such as delaunay-14 (see 'warpsift list graphs')."
JSON = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption)
GRAPH = Parameter(
    "graph",
    Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[str | None, typer.Option("--graph", "-g", help=GRAPH_HELP)],
)


@dataclass(frozen=True)
class MachineChanges:
    """What is changed of the machine; together the `overrides` of a request."""

    settings: list[str] | None = option(
        None, "Change a machine parameter: l2.size_bytes=4194304; may be given again.", flag="--set"
    )
    ideal: list[str] | None = option(None, "Make a part ideal: l2, dram or noc; may be given again.")


def parameters(owner: type) -> list[Parameter]:
    """The declared fields of a class as options; of an algorithm's options plain fields too."""
    return [
        _parameter(each, types_of(owner)[each.name])
        for each in fields(owner)
        if (is_declared(each) or issubclass(owner, Options)) and declaration_of(each).on_command_line
    ]


def of_algorithm(owner: type[Options]) -> list[Parameter]:
    """The options of an algorithm, its very own first; then those that units add."""
    from warpsift.units import units

    owners = [owner, *(unit.options for unit in units().values() if unit.options is not None)]
    found = {parameter.name: parameter for each in reversed(owners) for parameter in parameters(each)}
    order = dict.fromkeys(
        name for each in owners for base in each.__mro__ for name in vars(base).get("__annotations__", ())
    )
    return [found[name] for name in order if name in found]


def _parameter(each: Field[Any], kind: Any) -> Parameter:
    on, off = flags_of(each)
    declared = declaration_of(each)
    shown = typer.Option(
        f"{on}/{off}" if kind is bool and each.default else on,
        help=f"{declared.help} {_bracket(declared, each.default)}".strip(),
        metavar="|".join(declared.choices) or None,
        show_default=False,
    )
    optional = kind if type(None) in get_args(kind) else kind | None
    return Parameter(each.name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[optional, shown])


def _bracket(declared: Declaration, default: Any) -> str:
    """Which styles read it and what holds without it, unless the help says that itself."""
    words = [f"{' and '.join(declared.styles)} style"] if declared.styles else []
    if "default:" in declared.help:
        return f"[{words[0]}]" if words else ""
    if default is True:
        words.append("default: on")
    elif default is not None and default is not False:
        words.append(f"default: {default}")
    return f"[{'; '.join(words)}]" if words else ""


def callback(function: Callable[[Given], None], own: Sequence[Parameter]) -> Callable[..., None]:
    """A function as Typer wants it: with a signature of these parameters."""

    def called(**values: Any) -> None:
        function({name: value for name, value in values.items() if value is not None})

    called.__signature__ = inspect.Signature(list(own))  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


def command(name: str, function: Callable[[Given], None], own: Sequence[Parameter], text: str) -> Any:
    """One command with these options."""
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, help=text, context_settings=CONTEXT)(callback(function, own))
    return typer.main.get_command(single)


def add_group(
    app: typer.Typer, group: type, name: str, function: Callable[[Given], None], own: Sequence[Parameter], text: str
) -> None:
    """A command per algorithm; `function` is called where no algorithm is named."""

    def alone(given: Given) -> None:
        if given.pop("ctx").invoked_subcommand is None:
            function(given)

    context = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    made = typer.Typer(cls=group, invoke_without_command=True, rich_markup_mode=None, help=text)
    made.callback(help=text, context_settings=CONTEXT, subcommand_metavar="ALGORITHM [OPTIONS]")(
        callback(alone, [context, *own])
    )
    app.add_typer(made, name=name)


class AlgorithmGroup(typer.core.TyperGroup):
    """A command per algorithm, made when it is asked for. The algorithm may stand behind its options."""

    def own_command(self, name: str) -> Any:
        raise NotImplementedError

    def list_commands(self, ctx: Any) -> list[str]:
        from warpsift.algorithms import ALGORITHMS

        return list(ALGORITHMS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = self.own_command(cmd_name)
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        from warpsift.run.request import RequestError

        if args[0] not in self.list_commands(ctx):
            raise RequestError(unknown("algorithm", args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        switches = {flag for p in self.params for flag in (*p.opts, *p.secondary_opts) if getattr(p, "is_flag", False)}
        for place, word in enumerate(args):
            before = args[place - 1] if place else ""
            value = before.startswith("-") and "=" not in before and before not in switches
            if word in self.list_commands(ctx) and not value:
                return super().parse_args(ctx, [word, *args[:place], *args[place + 1 :]])
        return super().parse_args(ctx, args)
