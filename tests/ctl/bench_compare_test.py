"""bench/compare with doubles of both sides: bench_compare_test.py SOURCE_DIR."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPARE = str(pathlib.Path(sys.argv.pop(1)) / "bench/compare")

PEER = """#!/bin/sh
[ "$1" = -c ] && { echo '{"torch": "2.0", "gpu": GPU}'; exit 0; }
echo "peer $*" >> "$CALLS"
echo '{"steps": 400, "steps_per_s": 5.0, "bytes_per_s": 7e9, "gpu_busy": 0.7}'
"""
TAILRACE = """#!/bin/sh
echo "tailrace $*" >> "$CALLS"
run='{"steps": 400, "steps_per_s": 7.5, "bytes_per_s": 11e9, "gpu_busy": 0.99, "link_bytes_per_s": 55e9}'
case $2 in
  link) echo "{\\"run\\": $run}" ;;
  *) echo "{\\"strategies\\": [{\\"runs\\": [$run]}]}" ;;
esac
exit "${TAILRACE_EXIT:-0}"
"""


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tailrace compare ")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, name, script):
        file = self.path / name
        file.write_text(script)
        file.chmod(0o700)
        return str(file)

    def compare(self, *arguments, gpu='"a GPU"', **variables):
        self.write("tailrace", TAILRACE)
        python = self.write("python", PEER.replace("GPU", gpu))
        environment = os.environ | {"PYTHON": python, "TAILRACE_BIN": str(self.path),
                                    "CALLS": str(self.path / "calls")} | variables
        return subprocess.run([sys.executable, COMPARE, "--out", str(self.path / "out"), *arguments],
                              env=environment, capture_output=True, text=True, check=False)

    def calls(self):
        return [line.split()[0] for line in (self.path / "calls").read_text().splitlines()]

    def test_runs_both_sides_in_turn_and_writes_figures_and_table(self):
        ended = self.compare("--cases", "tf32,link", "--repeat", "2")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.calls(), ["peer", "tailrace"] * 4)
        rows = json.loads((self.path / "out/results.json").read_text())["rows"]
        self.assertEqual([row["case"] for row in rows], ["tf32", "link"])
        self.assertEqual(rows[1]["speedup"], 1.5)
        self.assertEqual(len(rows[0]["peer"]["runs"]), 2)
        table = (self.path / "out/table.md").read_text()
        self.assertIn("| 5.00 | 70.0 % | 400 | 7.50 | 99.0 % | 7.00 / 11.00 | 12.7 % / 20.0 % | 1.50 |", table)
        self.assertIn("--set=model.precision=tf32", table)

    def test_says_that_it_needs_a_gpu(self):
        ended = self.compare(gpu="null")
        self.assertEqual(ended.returncode, 69)
        self.assertIn("no NVIDIA GPU", ended.stderr)
        self.assertFalse((self.path / "out").exists())

    def test_passes_on_the_exit_code_of_a_side_that_fails(self):
        ended = self.compare("--cases", "link", TAILRACE_EXIT="75")
        self.assertEqual(ended.returncode, 75)
        self.assertIn("exit code 75 of", ended.stderr)

    def test_names_a_case_that_there_is_not(self):
        ended = self.compare("--cases", "tf32,tf64")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("unknown cases: tf64", ended.stderr)

    def test_shows_the_commands_without_running_them(self):
        ended = self.compare("--commands", "--cases", "bf16-logits")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("--logits=bfloat16", ended.stdout)
        self.assertFalse((self.path / "calls").exists())


if __name__ == "__main__":
    unittest.main()
