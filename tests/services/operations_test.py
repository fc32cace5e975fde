#!/usr/bin/env python3
"""Runs every block marked `sh` of docs/operations.md, in order, in a machine of its own, as root, with the pipeline
`demo` in /etc/tailrace: operations_test.py BUILD_DIR LIBTORCH_DIR.
"""

import pathlib
import re
import sys

from machine import CannotBoot, Machine

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operations.md"

# Where the installation brings no pipeline of its own.
DEMO = """
[pipeline]
name = "demo"
device = "cpu"
[source]
kind = "synthetic"
items = 200000
batch_size = 4
shape = [16]
[model]
kind = "synthetic"
shape = [16]
[[group]]
name = "masks"
processes = 2
sink = { kind = "checksum" }
"""


def blocks(text):
    """(line, heading, script) of each block to run."""
    heading = script = None
    start = 0
    for number, line in enumerate(text.splitlines(), 1):
        if script is not None:
            if line.startswith("```"):
                yield start, heading, script
                script = None
            else:
                script += line + "\n"
        elif re.fullmatch(r"```sh\s*", line):
            start, script = number, ""
        elif line.startswith("#"):
            heading = line.lstrip("# ")
    if script is not None:
        raise SystemExit(f"the block in line {start} has no end")


def run_blocks(machine, path):
    for line, heading, script in blocks(path.read_text()):
        result = machine.shell(script, check=False, timeout=120)
        print(f"{path.name}:{line} ({heading})\n{script}{result.stdout}{result.stderr}", flush=True)
        if result.returncode != 0:
            print(f"{path.name}:{line}: ended with {result.returncode}\n{machine.journal('-b', '-n', '100')}")
            return 1
    return 0


def main():
    build, libtorch = sys.argv[1:]
    try:
        machine = Machine(build, {}, libtorch)
    except CannotBoot as reason:
        print(reason)
        return 77
    try:
        if machine.run("test", "-e", "/etc/tailrace/demo.toml", check=False).returncode != 0:
            machine.write("/etc/tailrace/demo.toml", DEMO)
            machine.run("systemctl", "daemon-reload")
        return run_blocks(machine, PAGE)
    finally:
        machine.close()


if __name__ == "__main__":
    sys.exit(main())
