"""A small file system of one's own that can be filled up and emptied again."""

import ctypes
import os
import pathlib

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_MS_REC = 0x4000
_MS_PRIVATE = 1 << 18
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None) -> None:
    _check(_libc.mount(source, target, kind, flags, options), f"mount on {os.fsdecode(target)}")


def make_mounts_private() -> str:
    """Gives this process mounts of its own: they vanish with its last child. Returns why that is not permitted, or ""."""
    user, group = os.getuid(), os.getgid()
    try:
        try:
            _check(_libc.unshare(_CLONE_NEWNS), "unshare")
        except PermissionError:
            _check(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS), "unshare")
            pathlib.Path("/proc/self/setgroups").write_text("deny")
            pathlib.Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            pathlib.Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        _mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    except OSError as error:
        return str(error)
    return ""


class Disk:
    """A tmpfs mounted on a folder."""

    def __init__(self, folder: pathlib.Path, bytes_: int) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.full = False
        _mount(b"tailrace-chaos", os.fsencode(folder), b"tmpfs", 0, f"size={bytes_}".encode())

    @property
    def _ballast(self) -> pathlib.Path:
        return self.folder / "ballast"

    def fill(self, pages_left: int) -> None:
        """Leaves `pages_left` pages: the next files fail somewhere in their middle."""
        self.full = True
        with open(self._ballast, "wb") as file:
            size = 0
            while (pages := self._pages_there() - pages_left) > 0:
                try:
                    os.posix_fallocate(file.fileno(), size, pages * _PAGE_BYTES)
                    size += pages * _PAGE_BYTES
                except OSError:  # somebody was faster
                    continue

    def _pages_there(self) -> int:
        return os.statvfs(self.folder).f_bavail

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)
        self.full = False

    def unmount(self) -> None:
        _check(_libc.umount2(os.fsencode(self.folder), 0), f"unmount {self.folder}")
