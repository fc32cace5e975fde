#!/usr/bin/env python3
"""The Debian package on a machine with a real systemd: install_test.py BUILD_FOLDER LIBTORCH_FOLDER.

LIBTORCH_FOLDER: holds torch/. The tests follow on each other. Exits with 77 where no machine can be booted.
"""
import base64
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, LIBTORCH = sys.argv[1:3]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "services"))
from machine import in_machine, until  # noqa: E402

BUSY = """
[pipeline]
name = "busy"
device = "cpu"
state = "/var/lib/tailrace/busy"
[source]
kind = "synthetic"
items = 10_000_000
batch_size = 4
shape = [16]
workers = 1
[model]
kind = "synthetic"
shape = [16]
"""
PACKAGE = "/root/tailrace.deb"
MASKS = "/var/lib/tailrace/demo/masks"

machine = None


def package():
    """Dependencies are deb_test.py's matter; finding them takes longer than all that is wanted here."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cpack", "-G", "DEB", "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none",
                        "-D", "CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS=OFF"], cwd=BUILD, check=True, capture_output=True)
        return next(Path(folder).glob("tailrace_*.deb")).read_bytes()


def make_bare():
    """As before anything of Tailrace came to the machine."""
    machine.shell("""
        rm -rf /usr/bin/tailrace* /usr/lib/systemd/*/*tailrace* /usr/lib/{sysusers,tmpfiles}.d/tailrace* /usr/share/{,doc/}tailrace* \
          /usr/share/man/man?/tailrace* /usr/share/bash-completion/completions/tailrace* /etc/tailrace /var/lib/tailrace
        rm -f /var/lib/man-db/auto-update  # what man-db does after each package takes longer than all the rest
        userdel tailrace
        systemctl daemon-reload""")
    machine.run("sh", "-c", f"base64 -d >{PACKAGE}", stdin=base64.b64encode(package()).decode())


def install():
    return machine.run("dpkg", "-i", PACKAGE).stdout


class InstallTest(unittest.TestCase):
    def test_1_installed_the_demo_runs_at_once(self):
        said = install()
        self.assertNotIn("needs LibTorch", said)
        machine.run("systemctl", "start", "tailrace@demo.target")
        until(lambda: machine.run("test", "-e", "/var/lib/tailrace/demo/manifest.jsonl", check=False).returncode == 0, 60,
              lambda: machine.shell("systemctl status 'tailrace*'; journalctl -b -n 80", check=False).stdout)
        self.assertEqual(len(machine.run("ls", MASKS).stdout.split()), 24)
        self.assertEqual(machine.run("stat", "-c", "%U", MASKS).stdout, "tailrace\n")
        self.assertIn("tailrace-run", machine.run("man", "-P", "cat", "tailrace").stdout)

    def test_2_an_upgrade_leaves_pipelines_running_and_names_them(self):
        machine.run("sh", "-c", "cat >/etc/tailrace/busy.toml; systemctl daemon-reload", stdin=BUSY)
        machine.run("systemctl", "start", "tailrace@busy.target")
        producer = machine.run("systemctl", "show", "-P", "MainPID", "tailrace-producer@busy").stdout
        machine.shell("echo '# mine' >>/etc/tailrace/demo.toml")
        self.assertIn("tailrace@busy.target", install())
        self.assertEqual(machine.run("systemctl", "show", "-P", "MainPID", "tailrace-producer@busy").stdout, producer)
        self.assertTrue(machine.run("cat", "/etc/tailrace/demo.toml").stdout.endswith("# mine\n"))

    def test_3_a_removal_stops_what_runs_and_keeps_what_is_the_user_s(self):
        machine.run("dpkg", "-r", "tailrace")
        running = machine.run("systemctl", "list-units", "--plain", "--no-legend", "--state=active", "tailrace*").stdout
        self.assertEqual([line for line in running.splitlines() if ".slice" not in line], [])
        self.assertNotIn("tailrace", machine.run("ls", "/usr/bin").stdout)
        machine.run("dpkg", "-P", "tailrace")
        self.assertEqual(machine.run("ls", "/etc/tailrace").stdout.split(), ["busy.toml", "scale.d"])
        self.assertEqual(len(machine.run("ls", MASKS).stdout.split()), 24)
        machine.run("id", "tailrace")

    def test_4_without_libtorch_the_package_says_so_and_the_service_fails_with_the_library_s_name(self):
        machine.shell("rm -rf /var/lib/tailrace/*; umount -l /opt/tailrace/libtorch")
        self.assertIn("pip install --target /opt/tailrace/libtorch torch==", install())
        machine.run("systemctl", "start", "tailrace@demo.target", check=False)
        status = until(lambda: [word for word in machine.run("systemctl", "show", "-P", "ExecMainStatus",
                                                             "tailrace-producer@demo").stdout.split() if word != "0"], 20, "it runs")
        self.assertEqual(status, ["127"])
        self.assertIn("libtorch", machine.run("journalctl", "-b", "-u", "tailrace-producer@demo").stdout)
        machine.run("tailrace", "status")
        machine.run("tailrace-consumer", "--version")


def run_tests(booted):
    global machine
    machine = booted
    make_bare()
    return not unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(in_machine(run_tests, BUILD, LIBTORCH))
