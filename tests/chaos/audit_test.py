#!/usr/bin/env python3
"""The harness itself: what it must find is put in front of it."""

import json
import os
import pathlib
import sqlite3
import tempfile
import time
import unittest

import ledger
import outputs
from job import Job
from storm import StallClock

JOB = Job(items=6, batch_size=4)
SUMS = {item: (1024, 100 + item) for item in range(JOB.items)}
SCHEMA = """\
CREATE TABLE job(id INTEGER PRIMARY KEY, complete INTEGER);
CREATE TABLE groups(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE items(group_id INTEGER, item INTEGER, state INTEGER, batch INTEGER, row INTEGER, files TEXT, bytes INTEGER,
                   checksum INTEGER, attempts INTEGER, reason TEXT, PRIMARY KEY(group_id, item)) WITHOUT ROWID;
CREATE TABLE deaths(id INTEGER PRIMARY KEY);
INSERT INTO job VALUES(1, 1);
INSERT INTO groups VALUES(1, 'files'), (2, 'sums');
"""


class AuditTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name) / "state"
        self.out = pathlib.Path(folder.name) / "out"
        self.state.mkdir()
        self.out.mkdir()
        self.connection = sqlite3.connect(ledger.path_in(self.state), isolation_level=None)
        self.addCleanup(self.connection.close)
        self.connection.executescript(SCHEMA)
        ledger.place_witness(self.state, lambda: True)
        for item in range(JOB.items):
            self.record(1, item)
            self.record(2, item)
            header = b"{}\n"
            content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + JOB.values_of(item)
            (self.out / JOB.file_of(item)).write_bytes(content)
        self.write_manifest(range(JOB.items))

    def record(self, group, item):
        batch, row = divmod(item, JOB.batch_size)
        files = json.dumps([str(self.out / JOB.file_of(item))]) if group == 1 else None
        checksum = SUMS[item][1] if group == 2 else None
        self.connection.execute(
            "INSERT INTO items VALUES(?, ?, 1, ?, ?, ?, 1024, ?, 1, NULL) ON CONFLICT DO NOTHING",
            (group, item, batch, row, files, checksum),
        )

    def write_manifest(self, items):
        done = {"files": {"state": "done"}, "sums": {"state": "done"}}
        lines = [json.dumps({"item": item, "groups": done}) + "\n" for item in items]
        (self.state / "manifest.jsonl").write_text("".join(lines))

    def audit(self):
        return ledger.audit(self.state, JOB, SUMS, self.out)

    def test_a_job_that_is_as_it_should_be_passes(self):
        account = self.audit()
        self.assertEqual((account.lost, account.doubled, account.faults), (0, 0, []))
        self.assertEqual(outputs.faults_of_files(self.out, JOB), (0, []))

    def test_a_row_that_is_missing_is_lost(self):
        self.connection.execute("DELETE FROM items WHERE group_id = 2 AND item = 3")
        self.assertEqual(self.audit().lost, 1)

    def test_a_row_that_is_written_again_is_doubled_though_nothing_changes(self):
        self.record(1, 5)
        self.assertEqual(self.audit().doubled, 1)
        self.assertEqual(self.audit().faults, [])

    def test_a_row_that_is_written_again_by_a_process_that_dies_before_its_commit_is_not_counted(self):
        self.connection.execute("BEGIN")
        self.record(1, 5)
        self.connection.execute("ROLLBACK")
        self.assertEqual(self.audit().doubled, 0)

    def test_rows_that_differ_from_a_clean_run_are_faults(self):
        for change in ("checksum = 7", "bytes = 1", "batch = 9", "row = 3", "state = 2", "files = '[\"x\"]'"):
            self.connection.execute("BEGIN")
            self.connection.execute(f"UPDATE items SET {change} WHERE group_id = 2 AND item = 2")
            self.connection.execute("COMMIT")
            self.assertEqual(len(self.audit().faults), 1, change)
            self.connection.execute("DELETE FROM items WHERE group_id = 2 AND item = 2")
            self.record(2, 2)

    def test_a_job_that_is_not_marked_complete_is_a_fault(self):
        self.connection.execute("UPDATE job SET complete = 0")
        self.assertEqual(len(self.audit().faults), 1)

    def test_a_manifest_with_a_line_too_few_or_too_many_is_a_fault(self):
        for items in (range(5), [0, 1, 2, 3, 4, 5, 5]):
            self.write_manifest(items)
            self.assertEqual(len(self.audit().faults), 1)

    def test_files_that_are_missing_torn_or_wrong_are_lost(self):
        path = self.out / JOB.file_of(4)
        whole = path.read_bytes()
        for content in (None, b"", whole[:-1], whole[:-1] + b"x", whole + b"x"):
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
            self.assertEqual(outputs.faults_of_files(self.out, JOB)[0], 1)

    def test_a_file_too_many_is_a_fault(self):
        (self.out / "other").touch()
        self.assertEqual(len(outputs.faults_of_files(self.out, JOB)[1]), 1)

    def test_temporary_files_are_found(self):
        (self.out / f".tailrace-{os.getpid()}-1.tmp").touch()
        self.assertEqual(len(outputs.temporary_files(self.out)), 1)

    def test_every_commit_changes_the_mark(self):
        self.connection.execute("PRAGMA journal_mode = WAL")
        before = ledger.mark(self.state)
        time.sleep(0.02)  # coarser than the clock of the file system's time stamps
        self.connection.execute("UPDATE job SET complete = 0")
        self.assertNotEqual(ledger.mark(self.state), before)


class StallClockTest(unittest.TestCase):
    def setUp(self):
        self.clock = StallClock()
        self.start = time.monotonic()
        self.look(0, mark=0)

    def look(self, seconds, mark, disturbed=False, stopped=False):
        self.clock.look(self.start + seconds, (mark,), disturbed, stopped)

    def test_no_progress_while_everybody_is_there_is_a_stall(self):
        self.look(3, mark=0)
        self.assertAlmostEqual(self.clock.longest, 3)

    def test_progress_ends_a_stall(self):
        self.look(2, mark=1)
        self.look(3, mark=1)
        self.assertAlmostEqual(self.clock.longest, 1)

    def test_time_in_which_somebody_is_missing_does_not_count(self):
        self.look(2, mark=0, disturbed=True)
        self.look(3, mark=0)
        self.assertAlmostEqual(self.clock.longest, 1)

    def test_time_in_which_somebody_is_stopped_counts_apart(self):
        self.look(2, mark=0, stopped=True)
        self.look(3, mark=0)
        self.assertAlmostEqual(self.clock.longest, 1)
        self.assertAlmostEqual(self.clock.longest_while_stopped, 3)

    def test_a_hang_is_silence_of_those_who_are_all_at_work(self):
        self.look(100, mark=0, disturbed=True)
        self.assertAlmostEqual(self.clock.quiet(self.start + 130), 30)
        self.assertAlmostEqual(self.clock.silence(self.start + 130), 130)
        self.look(140, mark=1)
        self.assertAlmostEqual(self.clock.quiet(self.start + 150), 10)


if __name__ == "__main__":
    unittest.main()
