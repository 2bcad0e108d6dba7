"""`warpsift pack`: a store as one small file, for whoever wants to make its tables again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsift.cli.app import CONTEXT, app, console
from warpsift.paths import check_output


@app.command(context_settings=CONTEXT)
def pack(
    store: Annotated[Path, typer.Argument(help="The file that holds the results.", show_default=False)],
    packed: Annotated[Path, typer.Argument(help="What to write: a name that ends in .xz.", show_default=False)],
) -> None:
    """Compress the finished runs of a store into one file, which --store of the reading commands takes.

    \b
    Examples:
      warpsift pack claims.db claims.db.xz
      warpsift claims --store claims.db.xz
      warpsift results --store claims.db.xz --where graph=cond
    """
    from warpsift.store.packed_store import pack as write

    check_output(packed, "PACKED", (".xz",))
    runs = write(store, packed)
    console().print(f"{runs} runs in {packed}, {packed.stat().st_size / 1e6:.1f} MB", highlight=False)
