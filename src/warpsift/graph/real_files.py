"""The papers' real graphs on disk: found by name in the user's data folders, else a stand-in is generated.

    export WARPSIFT_DATA_DIR=~/graphs        # several: separated as in PATH

A preset (datasets.toml) says under which file names its original is distributed and where to get it. A whole preset,
`cnr-2000`, is the real graph where its file is found; a part, `cnr-2000@1/8`, is always generated, and so is
`cnr-2000@1`, the stand-in at full size.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from warpsift.graph.presets import presets
from warpsift.paths import is_file, is_folder

DATA_DIR = "WARPSIFT_DATA_DIR"
DEEPEST = 2  # folders within a data folder: FOLDER/cnr-2000/cnr-2000.graph


def data_folders() -> list[Path]:
    """The folders that the user has named; those that are not there are left out."""
    named = os.environ.get(DATA_DIR, "").split(os.pathsep)
    return [Path(name).expanduser() for name in named if name and is_folder(Path(name).expanduser())]


def find_real(name: str, folders: Iterable[Path] | None = None) -> Path | None:
    """The file of a preset's original, or None; `folders` other than the user's data folders."""
    preset = presets().get(name)
    if preset is None:
        return None
    for folder in data_folders() if folders is None else folders:
        for depth in range(DEEPEST + 1):
            for path in sorted(folder.glob("*/" * depth + "*")):
                if path.name.split(".")[0] in preset.files and path.suffix in _READ and is_file(path):
                    return path
    return None


# What a graph file may end in; checksums and properties lie beside it.
_READ = (".graph", ".mtx", ".gz", ".bz2", ".xz", ".npz", ".el", ".txt", ".tar")


def how_to_get(name: str) -> str:
    """One sentence on where the original of a stand-in is, and what to do with it; empty for other graphs."""
    preset = presets().get(name.partition("@")[0])
    if preset is None:
        return ""
    return f"the real graph: get {preset.files[0]} from {preset.source} and set {DATA_DIR} to its folder"
