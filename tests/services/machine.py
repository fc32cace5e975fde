"""A machine for tests: a real systemd in namespaces of its own (see boot_machine)."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


class CannotBoot(Exception):
    """Why this machine cannot boot another one."""


class Machine:
    """Boots on construction; `close` leaves nothing behind, and neither does a kill of this process."""

    def __init__(self, build_dir, libtorch=""):
        """`build_dir`: what is installed; empty: nothing. `libtorch`: the folder that holds torch/; empty: the machine has none."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tailrace-machine-"))
        (self.folder / "store").mkdir()
        self.log = open(self.folder / "boot.log", "w+")
        self.boots = 0
        self.keeper = subprocess.Popen(
            [HERE / "boot_machine", str(build_dir), str(self.folder), libtorch],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True)
        try:
            self._wait_for_boot()
        except BaseException:
            self.close()
            raise

    def _wait_for_boot(self):
        line = self.keeper.stdout.readline()
        if not line.startswith("booted "):
            self.keeper.wait()
            if self.keeper.returncode == 77:
                raise CannotBoot(line.strip() or self.boot_log())
            raise RuntimeError(f"the machine did not boot: {line}{self.boot_log()}")
        self.boots += 1
        outer = int(line.split()[1])
        children = pathlib.Path(f"/proc/{outer}/task/{outer}/children")
        self.pid = int(until(lambda: children.read_text().split(), 10, "no PID 1")[0])
        until(lambda: os.readlink(f"/proc/{self.pid}/exe").endswith("/systemd"), 20, "PID 1 is no systemd")
        until(lambda: self.run("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded"),
              30, "systemd did not get up")

    @property
    def root(self):
        """The machine's root folder, as seen from here."""
        return pathlib.Path(f"/proc/{self.pid}/root")

    def boot_log(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def run(self, *command, check=True, timeout=60, stdin=None):
        """Runs a command in the machine, as root; text in, text out."""
        entered = ["nsenter", "-t", str(self.pid), "-m", "-p", "-C", "-i", "-u", "-n", "--",
                   "/usr/bin/env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root",
                   "LC_ALL=C.UTF-8", "SYSTEMD_PAGER=", *map(str, command)]
        result = subprocess.run(entered, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=timeout)
        if check and result.returncode != 0:
            raise AssertionError(f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        return result

    def shell(self, script, **options):
        return self.run("bash", "-euo", "pipefail", "-c", script, **options)

    def write(self, path, content):
        self.run("install", "-D", "-m", "644", "/dev/stdin", path, stdin=content)

    def show(self, unit, name):
        """A property of a unit."""
        return self.run("systemctl", "show", "--value", "-p", name, unit).stdout.strip()

    def journal(self, *arguments):
        return self.run("journalctl", "--no-pager", "-q", *arguments).stdout

    def reboot(self):
        self.run("systemctl", "reboot", check=False)
        self._wait_for_boot()

    def close(self):
        self.keeper.stdin.close()  # the machine ends with it
        self.keeper.wait()
        self.keeper.stdout.close()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def in_machine(work, build_dir, libtorch=""):
    """`work(machine)` with one that is there for it alone. Returns what it returns, or 77 where none can be booted."""
    try:
        machine = Machine(build_dir, libtorch)
    except CannotBoot as reason:
        print(reason)
        return 77
    try:
        return work(machine)
    finally:
        machine.close()


def until(condition, seconds, failure):
    """The first true value of `condition`, looked at again and again."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            value = condition()
        except OSError:
            value = None
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(failure() if callable(failure) else failure)
        time.sleep(0.05)
