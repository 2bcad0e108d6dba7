"""Writing a picture: complete or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from warpsift.paths import PathError

PICTURES = (".png", ".svg", ".pdf")


def save_picture(figure: Any, path: Path, **options: Any) -> None:
    """Write a matplotlib figure in the form that the name's ending says; `options` go to `savefig`."""
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{path.stem[:40]}-", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        try:
            figure.savefig(partial, **options)
            os.chmod(partial, 0o644)
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
    except OSError as error:
        raise PathError(f"{path}: cannot be written: {error.strerror or error}") from error
