"""The machines of a store, each kept once: a sweep of 100,000 runs has a few, of six thousand letters each.

A run names its machine by the digest of its text. Stores made before have the text itself in the run.
"""

from __future__ import annotations

import hashlib
import sqlite3

TABLE = """CREATE TABLE IF NOT EXISTS machines (
    digest TEXT PRIMARY KEY,       -- of the text beside it
    machine TEXT NOT NULL          -- JSON
) STRICT"""


def keep(db: sqlite3.Connection, text: str | None) -> str | None:
    """The digest by which a run names this machine; call it in the transaction that writes the run."""
    if text is None:
        return None
    digest = _digest(text)
    db.execute("INSERT OR IGNORE INTO machines VALUES (?, ?)", (digest, text))
    return digest


def kept(db: sqlite3.Connection) -> dict[str, str]:
    """Digest to text, of all machines that are whole; call it in the transaction that reads the runs."""
    there = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'machines' AND type = 'table'").fetchone()
    found = db.execute("SELECT digest, machine FROM machines") if there else ()
    return {digest: text for digest, text in found if isinstance(text, str) and _digest(text) == digest}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
