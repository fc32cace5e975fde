"""What the harness reads in a pipeline's ledger, and the witness that it puts there."""

import collections
import dataclasses
import json
import pathlib
import sqlite3
import time

from job import GROUPS, Job

# A row that somebody wants to write although the item has one already: its batch was worked on again after that was
# recorded. The trigger belongs to the writer's transaction, so no kill can hide one.
_WITNESS = """\
CREATE TABLE IF NOT EXISTS chaos_again(group_id INTEGER, item INTEGER);
CREATE TRIGGER IF NOT EXISTS chaos_witness BEFORE INSERT ON items
WHEN EXISTS (SELECT 1 FROM items WHERE group_id = NEW.group_id AND item = NEW.item)
BEGIN INSERT INTO chaos_again VALUES (NEW.group_id, NEW.item); END;
"""


def path_in(state: pathlib.Path) -> pathlib.Path:
    return state / "ledger.sqlite"


def mark(state: pathlib.Path) -> tuple[int, ...]:
    """Changes whenever somebody commits. Opens nothing: a connection of the harness would keep alive what a crash of
    all processes must leave behind."""
    values: list[int] = []
    for suffix in ("", "-wal"):
        try:
            status = (state / f"ledger.sqlite{suffix}").stat()
            values += (status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            values += (0, 0)
    return tuple(values)


def _connect(state: pathlib.Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path_in(state)}?mode=rw", uri=True, timeout=10, isolation_level=None)


def place_witness(state: pathlib.Path, is_alive) -> None:
    """Waits for the ledger that the first producer makes; before that nobody writes rows."""
    while is_alive():
        if path_in(state).exists():
            connection = _connect(state)
            try:
                if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'items'").fetchone():
                    connection.executescript(_WITNESS)
                    return
            finally:
                connection.close()
        time.sleep(0.005)
    raise RuntimeError("the producer ended before it had made a ledger")


@dataclasses.dataclass
class Account:
    """What the ledger says at the end."""

    lost: int = 0  # (group, item) pairs without a row
    doubled: int = 0  # rows that somebody wanted to write again
    attempts: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # deliveries → rows
    deaths: int = 0  # that `tailrace run` wrote down
    faults: list[str] = dataclasses.field(default_factory=list)


def read_sums(state: pathlib.Path) -> dict[int, tuple[int, int]]:
    """Item → bytes and checksum, of the group "sums"."""
    connection = _connect(state)
    try:
        return {
            item: (bytes_, checksum)
            for item, bytes_, checksum in connection.execute(
                "SELECT item, bytes, checksum FROM items JOIN groups ON groups.id = group_id WHERE name = 'sums'"
            )
        }
    finally:
        connection.close()


def _check_group(account: Account, group: str, rows: list[tuple], job: Job, sums: dict, out: pathlib.Path) -> None:
    there = {row[0] for row in rows}
    account.lost += job.items - len(there & set(range(job.items)))
    account.faults += [f"{group}: item {item} is not one of the job" for item in sorted(there - set(range(job.items)))]
    for item, state, batch, row, files, bytes_, checksum, attempts in rows:
        account.attempts[attempts] += 1
        wanted_files = [str(out / job.file_of(item))] if group == "files" else []
        if (state, batch, row) != (1, *divmod(item, job.batch_size)):
            account.faults.append(f"{group}: item {item} has state {state}, batch {batch}, row {row}")
        if json.loads(files or "[]") != wanted_files:
            account.faults.append(f"{group}: item {item} names the files {files}")
        if bytes_ != sums[item][0]:
            account.faults.append(f"{group}: item {item} has {bytes_} bytes, not {sums[item][0]}")
        if group == "sums" and checksum != sums[item][1]:
            account.faults.append(f"{group}: item {item} has the checksum {checksum}, not {sums[item][1]}")


def _check_manifest(account: Account, state: pathlib.Path, job: Job) -> None:
    lines = [json.loads(line) for line in (state / "manifest.jsonl").read_text().splitlines()]
    if [line["item"] for line in lines] != list(range(job.items)):
        account.faults.append(f"the manifest has {len(lines)} lines, not one for each item in their order")
    undone = [line["item"] for line in lines if any(line["groups"][group]["state"] != "done" for group in GROUPS)]
    account.faults += [f"the manifest says that item {item} is not done" for item in undone]


def audit(state: pathlib.Path, job: Job, sums: dict[int, tuple[int, int]], out: pathlib.Path) -> Account:
    """Compares the ledger of a finished job with a clean run's `sums`."""
    account = Account()
    connection = _connect(state)
    try:
        if (answer := connection.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            account.faults.append(f"integrity check: {answer}")
        if connection.execute("SELECT complete FROM job").fetchall() != [(1,)]:
            account.faults.append("the job is not marked complete")
        for group in GROUPS:
            rows = connection.execute(
                "SELECT item, state, batch, row, files, bytes, checksum, attempts FROM items"
                " JOIN groups ON groups.id = group_id WHERE name = ?",
                (group,),
            ).fetchall()
            _check_group(account, group, rows, job, sums, out)
        account.doubled = connection.execute("SELECT count(*) FROM chaos_again").fetchone()[0]
        account.deaths = connection.execute("SELECT count(*) FROM deaths").fetchone()[0]
        _check_manifest(account, state, job)
    finally:
        connection.close()
    return account
