#!/usr/bin/env python3
"""Does what docs/operations.md says, in order, in a machine of its own, as root: operations_test.py BUILD_DIR LIBTORCH_DIR.

Blocks marked `sh` are run; a block `toml` that begins with a file's name (# /etc/…) is written there; a block `ini` that
begins with `# systemctl edit UNIT` becomes the unit's drop-in, as that command makes it.
"""

import pathlib
import re
import shutil
import subprocess
import sys

from machine import in_machine

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def blocks(text):
    """(line, heading, language, content) of each block."""
    heading = language = None
    start, content = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if language is not None:
            if line == "```":
                yield start, heading, language, content
                language = None
            else:
                content += line + "\n"
        elif line.startswith("```"):
            start, language, content = number, line[3:].strip(), ""
        elif line.startswith("#"):
            heading = line.lstrip("# ")
    if language is not None:
        raise SystemExit(f"the block in line {start} has no end")


def furnish(machine, build_dir):
    """What a reader has before the first line: the packages, some photographs, a network."""
    made = subprocess.run(["cpack", "-G", "DEB", "-B", machine.root / "root" / "build", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"],
                          cwd=build_dir, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    shutil.copytree(PAGE.parents[1] / "packaging" / "demo" / "images", machine.root / "srv" / "photos")
    machine.run("ip", "address", "add", "10.0.0.5/32", "dev", "lo")


def follow(machine, language, content):
    """Does what a block says: a finished process, or None where there was nothing to run."""
    first = content.partition("\n")[0]
    if language == "sh":
        return machine.shell("cd /root\n" + content, check=False, timeout=120)
    if language == "toml" and (file := re.fullmatch(r"# (/etc/\S+)", first)):
        machine.write(file[1], content)
    elif language == "ini" and (unit := re.fullmatch(r"# systemctl edit (\S+)", first)):
        machine.write(f"/etc/systemd/system/{unit[1]}.service.d/override.conf", content)
        machine.run("systemctl", "daemon-reload")
    else:
        assert language == "text", f"nobody knows what to do with a block {language}: {first}"
    return None


def follow_page(machine, path, build_dir):
    furnish(machine, build_dir)
    for line, heading, language, content in blocks(path.read_text()):
        print(f"{path.name}:{line} ({heading})\n{content}", flush=True)
        result = follow(machine, language, content)
        if result is None:
            continue
        print(f"{result.stdout}{result.stderr}", flush=True)
        failed = machine.run("systemctl", "list-units", "--failed", "--plain", "--no-legend", "tailrace*").stdout
        if result.returncode != 0 or failed:
            print(f"{path.name}:{line}: ended with {result.returncode}\n{failed}{machine.journal('-b', '-n', '100')}")
            return 1
    return 0


if __name__ == "__main__":
    build, *libtorch = sys.argv[1:]
    sys.exit(in_machine(lambda machine: follow_page(machine, PAGE, build), "", *libtorch))
