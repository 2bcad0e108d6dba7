"""The command line: a thin layer over `warpsift.run.execute`.

Exit codes: 0 fine, 1 the answer failed its check, 2 the request was wrong, 130 interrupted.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from warpsift.errors import WarpsiftError

app = typer.Typer(
    help="A design lab for graph processing on GPUs with special hardware units.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
CONTEXT = {"help_option_names": ["-h", "--help"]}

GraphOption = Annotated[
    str, typer.Option("--graph", "-g", help="A file, or a name such as delaunay-14 (see 'warpsift list graphs').")
]
GpuOption = Annotated[str | None, typer.Option("--gpu", help="Time it on this machine (see 'warpsift list machines').")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a machine parameter: l2.size_bytes=4194304; may be given again."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
BitSetting = Annotated[str, typer.Option(help="Vertex style: 'atomic' or 'byte'.")]
Occupancy = Annotated[
    str, typer.Option(help="Vertex style, plain GPU: 'full', or 'target' for the warps that the MFF's targets leave.")
]
TargetWords = Annotated[int, typer.Option(help="MFF: words per thread of a target; 32 is the paper's 4 KB per warp.")]
Symmetrise = Annotated[bool, typer.Option("--symmetrise", help="Add the reverse of every arc.")]
DropLoops = Annotated[bool, typer.Option("--drop-self-loops")]
GraphSeed = Annotated[int, typer.Option("--graph-seed", help="Of generated graphs and of the order GRAPH~random.")]
GraphFormat = Annotated[
    str | None, typer.Option("--graph-format", help="The file's format, if its name and content do not say.")
]
Merge = Annotated[bool, typer.Option("--merge-duplicates", help="Keep one of several equal arcs.")]


FILE_WIDTH = 400  # characters a line may have where it goes to a file or a pipe: tables stay whole


def console():
    from rich.console import Console

    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=FILE_WIDTH)


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
        overrides[key.strip()] = value.strip()
    for part in ideal or []:
        if part not in ("l2", "dram", "noc"):
            raise RequestError(f"--ideal {part}: the parts that can be ideal are l2, dram and noc")
        overrides[f"ideal.{part}"] = "true"
    return overrides


def load_for(graph: str, title: str, **loading: Any):
    """The graph, with a line of progress; `loading` goes to `load_graph`."""
    from warpsift.graph import load_graph
    from warpsift.report.progress import Progress

    with Progress(title) as progress:
        progress.note(f"loading {graph}")
        return load_graph(graph, **loading)


INTERRUPTED = 130


class Interrupted(Exception):
    """Ctrl-C in a command that keeps what it has finished; the text says where."""


def main() -> None:
    """Entry point: errors that a user can cause become one line and exit code 2."""
    code: str | int | None = 0
    kept = "nothing was written"
    try:
        app()
    except Interrupted as stopped:
        code, kept = INTERRUPTED, str(stopped)
    except WarpsiftError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 2
    except SystemExit as done:  # how Typer ends, after an interruption too
        code = done.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone: | head
        pass
    if code == INTERRUPTED:
        sys.stderr.write(f"interrupted; {kept}\n")
    sys.exit(code)
