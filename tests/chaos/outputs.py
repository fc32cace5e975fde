"""Checks of the files that come out."""

import os
import pathlib

from job import Job

_HEADER_AT = 10  # magic, version, length of the header


def _payload(path: pathlib.Path) -> bytes:
    content = path.read_bytes()
    if content[:6] != b"\x93NUMPY":
        return b""
    return content[_HEADER_AT + int.from_bytes(content[8:10], "little") :]


def faults_of_files(out: pathlib.Path, job: Job) -> tuple[int, list[str]]:
    """How many items have no right file, and what else is wrong."""
    lost = 0
    faults = []
    for item in range(job.items):
        path = out / job.file_of(item)
        try:
            if _payload(path) != job.values_of(item):
                lost += 1
                faults.append(f"{path} does not hold what the model computes")
        except FileNotFoundError:
            lost += 1
            faults.append(f"{path} is not there")
    wanted = {job.file_of(item) for item in range(job.items)}
    faults += [f"{out / name} is one file too many" for name in sorted(set(os.listdir(out)) - wanted)]
    return lost, faults


def temporary_files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(folder.rglob(".tailrace-*.tmp"))
