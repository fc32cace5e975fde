#!/usr/bin/env python3
"""Runs every block marked `sh` of docs/operations.md, in order, in a machine of its own, as root: operations_test.py BUILD_DIR LIBTORCH_DIR.
"""

import pathlib
import re
import sys

from machine import in_machine

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operations.md"


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


if __name__ == "__main__":
    sys.exit(in_machine(lambda machine: run_blocks(machine, PAGE), *sys.argv[1:]))
