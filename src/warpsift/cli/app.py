"""What the commands share: the application, options that several take, and how they print."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsift.cli.usage_errors import OneLineErrors
from warpsift.version import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from warpsift.graph import CsrGraph

CONTEXT = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    cls=OneLineErrors,
    help="A design lab for graph processing on GPUs with special hardware units.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"warpsift {__version__}")
        raise typer.Exit()


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A design lab for graph processing on GPUs with special hardware units."""


GraphOption = Annotated[
    str, typer.Option("--graph", "-g", help="A file, or a name such as delaunay-14 (see 'warpsift list graphs').")
]
GpuOption = Annotated[str | None, typer.Option("--gpu", help="Time it on this machine (see 'warpsift list machines').")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a machine parameter: l2.size_bytes=4194304; may be given again."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Symmetrise = Annotated[bool, typer.Option("--symmetrise", help="Add the reverse of every arc.")]
DropLoops = Annotated[bool, typer.Option("--drop-self-loops")]
GraphSeed = Annotated[int, typer.Option("--graph-seed", help="Of generated graphs and of the order GRAPH~random.")]
GraphFormat = Annotated[
    str | None, typer.Option("--graph-format", help="The file's format, if its name and content do not say.")
]
Merge = Annotated[bool, typer.Option("--merge-duplicates", help="Keep one of several equal arcs.")]


FILE_WIDTH = 400  # characters a line may have where it goes to a file or a pipe: tables stay whole


def console() -> Console:
    """The screen; what comes from files cannot send it commands."""
    from rich.console import Console

    from warpsift.report.escaping import Escaping

    screen = Console(highlight=False)
    if not screen.is_terminal:
        screen = Console(highlight=False, width=FILE_WIDTH)
    screen.push_render_hook(Escaping())
    return screen


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, default=plain) + "\n")


def plain(value: Any) -> Any:
    """NumPy scalars and other small things as JSON."""
    return value.item() if hasattr(value, "item") else str(value)


def overrides_of(settings: list[str] | None, ideal: list[str] | None = None) -> dict[str, Any]:
    """--set a.b=c and --ideal part, as a dictionary."""
    from warpsift.run.request import RequestError

    overrides: dict[str, Any] = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise RequestError(f"--set {setting}: write --set KEY=VALUE, such as --set l2.size_bytes=4194304")
        if not setting.isprintable():  # bytes that are not UTF-8 too: no parameter's value needs them
            raise RequestError(f"--set {setting}: write plain text, such as --set l2.size_bytes=4194304")
        overrides[key.strip()] = value.strip()
    for part in ideal or []:
        if part not in ("l2", "dram", "noc"):
            raise RequestError(f"--ideal {part}: the parts that can be ideal are l2, dram and noc")
        overrides[f"ideal.{part}"] = "true"
    return overrides


def load_for(graph: str, title: str, **loading: Any) -> CsrGraph:
    """The graph, with a line of progress; `loading` goes to `load_graph`."""
    from warpsift.graph import load_graph
    from warpsift.report.progress import Progress

    with Progress(title) as progress:
        progress.note(f"loading {graph}")
        return load_graph(graph, **loading)
