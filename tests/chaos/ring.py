"""What the harness sees of a ring from outside."""

import fcntl
import os
import pathlib
import struct

FOLDER = pathlib.Path("/dev/shm")
_F_OFD_GETLK = 36
_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, pid
_CURSOR_AT = 264  # in the control file


def files(name: str) -> list[pathlib.Path]:
    """Everything in /dev/shm that belongs to the pipeline."""
    return sorted(FOLDER.glob(f"tailrace.{name}.*"))


PRODUCER = 0


def is_alive(name: str, participant: int) -> bool:
    """Whether a living process has this entry of the ring of this name: it holds that byte of the control file."""
    try:
        control = os.open(FOLDER / f"tailrace.{name}.ctl", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        answer = fcntl.fcntl(control, _F_OFD_GETLK, struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, participant, 1, 0))
        return struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK
    finally:
        os.close(control)


def remove_names(name: str) -> bool:
    """What logind's RemoveIPC does, or somebody's rm. False: there was nothing."""
    there = files(name)
    for path in there:
        path.unlink(missing_ok=True)
    return bool(there)


def cursor(name: str) -> int:
    """How many batches have been published (docs/memory_layout.md)."""
    with open(FOLDER / f"tailrace.{name}.ctl", "rb") as control:
        control.seek(_CURSOR_AT)
        return struct.unpack("<Q", control.read(8))[0]
