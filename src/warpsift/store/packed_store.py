"""Stores as one compressed file, to keep beside a table or to send to somebody: `warpsift pack claims.db claims.db.xz`.

Commands that only read take such a file as their store. Finished runs alone are in it, without the names of the
computers that made them.
"""

from __future__ import annotations

import lzma
import sqlite3
import tempfile
from pathlib import Path

from warpsift.store.store import Store
from warpsift.store.store_errors import StoreError, translated
from warpsift.store.unpacking import PACKED


def pack(store: Path, target: Path) -> int:
    """Write the finished runs of a store to a file that ends in .xz, complete or not at all; gives their number."""
    if target.suffix != PACKED:
        raise StoreError(f"cannot write {target}: name it {target.name}{PACKED}")
    partial = target.with_name(f"{target.name}.partial")
    with tempfile.TemporaryDirectory(prefix="warpsift-pack-") as folder:
        copy = Path(folder) / "store.db"
        with Store(store, readonly=True) as ledger:
            ledger.copy_to(copy)
        runs = _finished_alone(copy)
        try:
            partial.write_bytes(lzma.compress(copy.read_bytes(), preset=9))
            partial.replace(target)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise StoreError(f"cannot write {target}: {error.strerror or error}") from error
    return runs


def _finished_alone(copy: Path) -> int:
    """Leave out of a store who runs what, and where it was run."""
    with translated(copy):
        db = sqlite3.connect(copy, isolation_level=None)
        try:
            db.execute("DELETE FROM runs WHERE status <> 'done'")
            db.execute("UPDATE runs SET owner = NULL, lease_until = NULL, host = ''")
            db.execute("PRAGMA journal_mode = DELETE")  # a log beside it would be another file
            db.execute("VACUUM")
            return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])
        finally:
            db.close()
