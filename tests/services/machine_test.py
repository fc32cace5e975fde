#!/usr/bin/env python3
"""The machine for tests leaves nothing behind, however it ends: machine_test.py BUILD_DIR LIBTORCH_DIR."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

from machine import CannotBoot, Machine, until

BOOT = """
import sys; sys.path.insert(0, sys.argv[1])
from machine import Machine
machine = Machine(sys.argv[2])
print(machine.pid, machine.keeper.pid, machine.folder, flush=True)
sys.stdin.read()
"""


def cgroups():
    found = []
    for place in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        found += [str(path) for path in pathlib.Path(place).glob("tailrace-machine.*")]
    return found


def gone(pid):
    return not pathlib.Path(f"/proc/{pid}").exists()


class MachineTest(unittest.TestCase):
    build = ""

    def boot(self):
        """A process that holds a machine → (it, PID 1, keeper)."""
        owner = subprocess.Popen([sys.executable, "-c", BOOT, str(pathlib.Path(__file__).parent), self.build],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        pid, keeper, folder = owner.stdout.readline().split()
        self.addCleanup(subprocess.run, ["rm", "-rf", folder])
        self.addCleanup(owner.stdout.close)
        self.addCleanup(owner.stdin.close)
        self.addCleanup(owner.kill)
        return owner, int(pid), int(keeper)

    def assert_nothing_left(self, pid, keeper):
        until(lambda: gone(pid), 10, "PID 1 of the machine lives")
        until(lambda: gone(keeper), 10, "its keeper lives")
        until(lambda: not any(path.endswith(f".{keeper}") for path in cgroups()), 10, cgroups)
        self.assertNotIn("tailrace-machine", pathlib.Path("/proc/mounts").read_text())

    def test_nothing_is_left_of_a_machine_whose_owner_was_killed(self):
        owner, pid, keeper = self.boot()
        owner.kill()
        owner.wait()
        self.assert_nothing_left(pid, keeper)

    def test_a_machine_ends_with_its_keeper(self):
        owner, pid, keeper = self.boot()
        os.kill(keeper, signal.SIGKILL)
        until(lambda: gone(pid), 10, "PID 1 of the machine lives")
        owner.kill()
        owner.wait()
        until(lambda: gone(keeper), 10, "its keeper is still there")
        # The keeper's empty control group is for the next one to remove.
        Machine(self.build).close()
        self.assertFalse(any(path.endswith(f".{keeper}") for path in cgroups()))

    def test_the_hosts_files_cannot_be_reached(self):
        machine = Machine(self.build)
        self.addCleanup(machine.close)
        for folder in ("/etc", "/usr", "/var/lib", "/tmp", "/dev/shm", "/run", "/opt"):
            machine.run("touch", f"{folder}/tailrace-machine-was-here")
            self.assertFalse(pathlib.Path(f"{folder}/tailrace-machine-was-here").exists(), folder)
        for setting in ("/proc/sys/kernel/hostname", "/sys/kernel/uevent_helper", "/proc/sys/vm/swappiness"):
            self.assertFalse(machine.shell(f"[ ! -e {setting} ] || echo 1 > {setting}", check=False).returncode == 0
                             and pathlib.Path(setting).exists(), setting)
        self.assertNotIn("vda", machine.run("ls", "/dev").stdout)


def main():
    MachineTest.build = sys.argv[1]
    try:
        Machine(MachineTest.build).close()
    except CannotBoot as reason:
        print(reason)
        return 77
    return not unittest.main(argv=[sys.argv[0]], exit=False, verbosity=2).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
