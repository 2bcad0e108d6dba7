"""The ledger of runs: one SQLite file, one row per point, keyed by the hash of everything that decides its result.

A row is `claimed` (somebody runs it, until the lease ends), `done` (with its result) or `failed` (with its error).
A point is written in one transaction, so that killing a sweep at any moment leaves finished runs finished and
the others free to be claimed again. Claims carry a lease that a heartbeat renews; a claim whose process is known to
be gone is taken over at once. Keep the file on a local disk: SQLite's write-ahead log is no use over a network.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from warpsift.store import stored_machines
from warpsift.store.canonical_json import from_json, to_json
from warpsift.store.store_errors import StoreError, translated
from warpsift.store.stored_json import Columns, LeftOut, no_collecting, numbers_of
from warpsift.store.unpacking import PACKED, unpacked


class Point(Protocol):
    """What the ledger must know of a run to come."""

    @property
    def key(self) -> str: ...  # hash of all inputs

    def as_columns(self) -> tuple[Any, ...]: ...  # version, package, request, graph, machine


APPLICATION_ID = 0x57535254  # "WSRT", in the header of the file: tells our SQLite files from others
SCHEMA_VERSION, WITHOUT_NUMBERS = 3, 1
BUSY_SECONDS = 60.0  # how long to wait for another writer; a write takes milliseconds
LEASE_SECONDS = 60.0  # a claim lapses so long after its last heartbeat
HEARTBEAT_SECONDS = 10.0

_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,          -- hash of all inputs
    status TEXT NOT NULL CHECK (status IN ('claimed', 'done', 'failed')),
    version TEXT NOT NULL,         -- of the sources that produced it
    package TEXT NOT NULL,
    request TEXT NOT NULL,         -- JSON
    graph TEXT NOT NULL,           -- JSON
    machine TEXT,                  -- digest (`stored_machines`); NULL where nothing was timed
    numbers TEXT,                  -- JSON: the result without what is long (`stored_json.numbers_of`)
    error_kind TEXT,               -- when failed
    error TEXT,
    owner TEXT,
    lease_until REAL,
    started_at REAL,
    finished_at REAL,
    host TEXT,
    host_seconds REAL,
    result TEXT                    -- JSON, when done; last, since SQLite reads a row up to what is asked for
) STRICT""",
    stored_machines.TABLE,
    "CREATE INDEX IF NOT EXISTS runs_by_status ON runs (status)",
)


class Record(NamedTuple):
    """A row of the ledger as plain data."""

    key: str
    status: str
    version: str
    package: str
    request: Mapping[str, Any]
    graph: Mapping[str, Any]
    machine: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    error_kind: str | None
    error: str | None
    finished_at: float | None
    host: str | None
    host_seconds: float | None

    def rows(self) -> list[dict[str, Any]]:
        """The run as one flat row; see `results.rows`."""
        from warpsift.store.rows import flat_row

        return [flat_row(self)]


_COLUMNS = "key, status, version, package, request, graph, machine, result, error_kind, error, finished_at, host, "
_COLUMNS += "host_seconds"
_BRIEF = _COLUMNS.replace(" result,", " coalesce(numbers, result),")


def _record(row: tuple[Any, ...], columns: Columns) -> Record:
    columns.check(row)
    return Record(*row[:4], *columns.decode(row[0], row[4:8]), *row[8:])


def new_owner() -> str:
    """Who claims: computer, process-number space, process and a word that tells two sweeps of one process apart."""
    return f"{_here()}|{os.getpid()}|{uuid.uuid4().hex[:8]}"


def _here() -> str:
    space = ""
    with contextlib.suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # two containers may share a host name but not process numbers
    return f"{socket.gethostname()}|{space}"


def _is_gone(owner: str) -> bool:
    """Whether the owner was a process of this computer that no longer exists."""
    here, _, _ = owner.rpartition("|")
    place, _, pid = here.rpartition("|")
    if place != _here() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


class Store:
    """One open ledger; open a second one for another thread."""

    def __init__(self, path: str | os.PathLike[str], *, readonly: bool = False) -> None:
        self.path = Path(path)
        self.readonly = readonly
        if readonly and not self.path.exists():
            raise StoreError(f"no store at {self.path}: run 'warpsift sweep FILE.toml --store {self.path}' first")
        with translated(self.path):
            self._db = self._open_readonly() if readonly else self._open()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    # Opening.

    def _open(self) -> sqlite3.Connection:
        if self.path.suffix == PACKED:
            raise StoreError(
                f"{self.path} is packed, and a packed store is only read: unpack it (xz -dk {self.path.name}), or give "
                "another name with --store"
            )
        if self.path.is_dir():
            raise StoreError(f"{self.path} is a directory; the store is a file, such as {self.path / 'warpsift.db'}")
        if not self.path.parent.is_dir():
            raise StoreError(f"cannot make the store {self.path}: there is no directory {self.path.parent}")
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            if self._version(db) < SCHEMA_VERSION:
                self._create(db)
            db.execute("PRAGMA synchronous = FULL")  # a finished run survives a power cut
        except BaseException:
            db.close()
            raise
        return db

    def _open_readonly(self) -> sqlite3.Connection:
        """Open what may lie on a medium where the log cannot be made, or be packed."""
        if self.path.suffix == PACKED:
            return self._open_packed()
        address = self.path.resolve().as_uri()
        last: sqlite3.Error | None = None
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            if "immutable" in mode and Path(f"{self.path}-wal").exists():
                break
            db = sqlite3.connect(f"{address}?{mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                if not self._version(db):
                    raise StoreError(f"{self.path} is empty: no sweep has written to it yet")
                return db
            except sqlite3.OperationalError as error:
                last = error
                db.close()
            except BaseException:
                db.close()
                raise
        assert last is not None
        raise last

    def _open_packed(self) -> sqlite3.Connection:
        content = unpacked(self.path)
        db = sqlite3.connect(":memory:", isolation_level=None)
        try:
            if content:
                db.deserialize(content)
            if not self._version(db):
                raise StoreError(f"{self.path} is an empty store")
            return db
        except BaseException:
            db.close()
            raise

    def _version(self, db: sqlite3.Connection) -> int:
        """The version of the tables, 0 if there are none; refuses files that are something else."""
        db.execute("BEGIN")  # one view of the file: another process may be making the store right now
        try:
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
        finally:
            db.execute("ROLLBACK")
        if application != APPLICATION_ID and tables:
            raise StoreError(f"{self.path} is an SQLite file of another program; give a new name with --store")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer warpsift (store version {version}; this one knows "
                f"{SCHEMA_VERSION}): upgrade warpsift, or give a new name with --store"
            )
        return version

    def _create(self, db: sqlite3.Connection) -> None:
        deadline = time.monotonic() + BUSY_SECONDS
        while True:  # switching to the log does not wait for other openers by itself
            try:
                db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        with _transaction(db):
            for statement in _SCHEMA:
                db.execute(statement)
            if "numbers" not in [column[1] for column in db.execute("PRAGMA table_info(runs)")]:
                db.execute("ALTER TABLE runs ADD COLUMN numbers TEXT")
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    # Claiming and finishing.

    def claim(self, point: Point, owner: str, *, retry_failed_before: float = 0.0) -> str:
        """Try to take a point: 'mine', or what it is already: 'done', 'failed', 'busy'.

        A failure recorded before `retry_failed_before` is tried again.
        """
        with translated(self.path), _transaction(self._db):
            found = self._db.execute(
                "SELECT status, owner, lease_until, finished_at FROM runs WHERE key = ?", (point.key,)
            ).fetchone()
            now = time.time()
            if found is not None:
                status, holder, lease_until, finished_at = found
                if status == "done" or (status == "failed" and finished_at >= retry_failed_before):
                    return status
                if status == "claimed" and lease_until > now and not _is_gone(holder):
                    return "busy"
            self._db.execute(
                "INSERT OR REPLACE INTO runs (key, status, version, package, request, graph, machine, owner, "
                "lease_until, started_at) VALUES (?, 'claimed', ?, ?, ?, ?, ?, ?, ?, ?)",
                (point.key, *self._inputs(point), owner, now + LEASE_SECONDS, now),
            )
            return "mine"

    def heartbeat(self, owner: str) -> None:
        """Renew all claims of an owner."""
        with translated(self.path):
            self._db.execute(
                "UPDATE runs SET lease_until = ? WHERE owner = ? AND status = 'claimed'",
                (time.time() + LEASE_SECONDS, owner),
            )

    def release(self, owner: str) -> None:
        """Give back what was claimed and not finished."""
        with translated(self.path):
            self._db.execute("DELETE FROM runs WHERE owner = ? AND status = 'claimed'", (owner,))

    def finish(self, point: Point, result: str, host: str, host_seconds: float) -> None:
        """Keep a result (JSON text). If another has finished the same point meanwhile, the first stays."""
        self._write(point, "done", (result, None, None, host, host_seconds))

    def fail(self, point: Point, kind: str, error: str, host: str = "") -> None:
        """Keep what went wrong."""
        self._write(point, "failed", (None, kind, error, host, None))

    def _inputs(self, point: Point) -> tuple[Any, ...]:
        *others, machine = point.as_columns()
        return *others, stored_machines.keep(self._db, machine)

    def _write(self, point: Point, status: str, outcome: tuple[Any, ...]) -> None:
        numbers = None if outcome[0] is None else numbers_of(outcome[0])
        with translated(self.path), _transaction(self._db):
            self._db.execute(
                "INSERT INTO runs (key, status, version, package, request, graph, machine, numbers, result, "
                "error_kind, error, host, host_seconds, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET status = excluded.status, numbers = excluded.numbers, "
                "result = excluded.result, error_kind = excluded.error_kind, error = excluded.error, "
                "host = excluded.host, host_seconds = excluded.host_seconds, finished_at = excluded.finished_at, "
                "owner = NULL, lease_until = NULL WHERE runs.status <> 'done'",
                (point.key, status, *self._inputs(point), numbers, *outcome, time.time()),
            )

    # Reading.

    def record(self, key: str) -> Record | None:
        with translated(self.path):
            found = self._read(f"SELECT {_COLUMNS} FROM runs WHERE key = ?", (key,))
        return found[0] if found else None

    def statuses(self) -> dict[str, str]:
        """Key to status, of every row."""
        with translated(self.path):
            return dict(self._db.execute("SELECT key, status FROM runs"))

    def records(
        self, statuses: Iterable[str] = ("done", "failed"), parts: Collection[str] | None = None
    ) -> list[Record]:
        """Finished runs in the order in which they finished; of their results all, or at least these `parts`."""
        wanted = tuple(statuses)
        rows = f"FROM runs WHERE +status IN ({', '.join('?' * len(wanted))})"
        with translated(self.path), no_collecting():
            found = None
            if parts is not None and self._version(self._db) != WITHOUT_NUMBERS:
                with contextlib.suppress(LeftOut):
                    found = self._read(f"SELECT {_BRIEF} {rows}", wanted, parts, numbers=True)
            if found is None:
                found = self._read(f"SELECT {_COLUMNS} {rows}", wanted, parts)
        # Sorted here: SQLite would write all columns of all rows to a temporary file first.
        return sorted(found, key=lambda record: (record.finished_at or 0.0, record.key))

    def copy_to(self, path: Path) -> None:
        """All of the ledger as another file, as it is now."""
        with translated(self.path):
            self._db.execute("VACUUM INTO ?", (str(path),))

    def _read(
        self, query: str, values: tuple[str, ...], parts: Collection[str] | None = None, *, numbers: bool = False
    ) -> list[Record]:
        with _transaction(self._db, "BEGIN"):  # one view of runs and machines, whoever writes meanwhile
            columns = Columns(self.path, stored_machines.kept(self._db), parts, numbers=numbers)
            return [_record(row, columns) for row in self._db.execute(query, values)]


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    db.execute(begin)  # a deferred one could fail when it turns from reading to writing
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


__all__ = ["Record", "Store", "StoreError", "from_json", "new_owner", "to_json"]
