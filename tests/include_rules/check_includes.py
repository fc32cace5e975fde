#!/usr/bin/env python3
"""Checks the include rules of docs/architecture.md: check_includes.py SOURCE_DIR.

Prints a line for each violation; the exit code says whether there was one.
"""

import pathlib
import re
import sys

FOLDERS = ("os", "shm", "config", "systemd", "files", "ledger", "producer", "consumer", "ctl")

# Which of the project's folders or headers each folder may include, itself always allowed.
# The longest key that is a prefix of a file's folder counts.
MAY_USE = {
    "os": (),
    "shm": ("os",),
    "config": ("os", "shm"),
    "files": ("os",),
    "ledger": ("os", "shm", "files"),
    "systemd": ("os", "shm", "config", "ledger"),
    "consumer/sinks": ("os", "shm", "config", "files", "ledger"),
    "consumer": ("os", "shm", "config", "files", "systemd", "ledger"),
    "producer": ("os", "shm", "config", "files", "systemd", "ledger"),
    "ctl": FOLDERS,
}

# The strategy `inline` is composed in one place.
EXTRA = {"producer/main.cpp": ("consumer/sinks",)}

CUDA = re.compile(r"^(cuda|cudart|nvToolsExt|nvtx3/|nvml|cublas|cudnn|driver_types\.h)")
TORCH = re.compile(r"^(torch|c10|ATen|caffe2)/")
TOML = re.compile(r"^toml(\+\+|plusplus)?[./]")
SQLITE = re.compile(r"^sqlite3")
INTERPROCESS = re.compile(r"^boost/interprocess/")
BOOST = re.compile(r"^boost/")
SPDLOG = re.compile(r"^(spdlog|fmt)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def may_use(file):
    """The project folders that `file` (relative, posix) may include."""
    rules = [folder for folder in MAY_USE if file.startswith(folder + "/")]
    folder = max(rules, key=len)
    return (folder,) + MAY_USE[folder] + EXTRA.get(file, ())


def allowed_inside(file, included):
    return any(included == name or included.startswith(name + "/") for name in may_use(file))


def library_fault(file, included):
    """Why `file` must not include this library header, or None."""
    if CUDA.match(included) and not file.startswith("producer/"):
        return "CUDA headers belong into producer/"
    if TORCH.match(included) and not file.startswith("producer/torch/"):
        return "Torch headers belong into producer/torch/"
    if SPDLOG.match(included) and file.startswith(("os/", "shm/", "files/", "ledger/", "producer/torch/")):
        return "no spdlog here"
    if TOML.match(included) and not file.startswith("config/"):
        return "toml++ belongs into one file of config/"
    if SQLITE.match(included) and not file.startswith("ledger/"):
        return "SQLite belongs into one file of ledger/"
    if INTERPROCESS.match(included) and not file.startswith("shm/"):
        return "Boost.Interprocess belongs into one file of shm/"
    if BOOST.match(included) and not INTERPROCESS.match(included) and file.startswith("shm/"):
        return "of Boost, shm/ uses Interprocess alone"
    return None


def file_faults(file, text):
    for included in INCLUDE.findall(text):
        if included.startswith(tuple(folder + "/" for folder in FOLDERS + ("tests", "bench"))):
            if not allowed_inside(file, included):
                yield f"{file}: includes {included}; {file.rsplit('/', 1)[0]}/ may use {', '.join(may_use(file))}"
        elif fault := library_fault(file, included):
            yield f"{file}: includes {included}; {fault}"
        elif included.startswith(".."):
            yield f"{file}: includes {included}; paths start at the root"


def one_place_faults(texts, pattern, library):
    """A library that one file, or a header and its source, wraps for all others."""
    users = {file.rsplit(".", 1)[0] for file, text in texts.items() if any(map(pattern.match, INCLUDE.findall(text)))}
    if len(users) > 1:
        yield f"{library} is included by {', '.join(sorted(users))}; one of them has to do"


def faults(root):
    texts = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".h"):
                texts[path.relative_to(root).as_posix()] = path.read_text(errors="replace")
    if not texts:
        yield f"no sources under {root}"
    for file, text in texts.items():
        yield from file_faults(file, text)
    yield from one_place_faults(texts, TOML, "toml++")
    yield from one_place_faults(texts, SQLITE, "SQLite")
    yield from one_place_faults(texts, INTERPROCESS, "Boost.Interprocess")


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
