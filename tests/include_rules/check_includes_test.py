#!/usr/bin/env python3
"""The rules must bite: each of these files breaks one."""

import pathlib
import tempfile
import unittest

from check_includes import faults

BAD = {
    "os/a.cpp": "shm/ids.hpp",
    "os/b.cpp": "spdlog/spdlog.h",
    "files/a.cpp": "shm/ids.hpp",
    "files/b.cpp": "spdlog/spdlog.h",
    "shm/a.cpp": "config/config.hpp",
    "shm/b.cpp": "spdlog/spdlog.h",
    "shm/c.cpp": "boost/lockfree/queue.hpp",
    "config/a.cpp": "systemd/log.hpp",
    "config/b.cpp": "producer/device.hpp",
    "systemd/a.cpp": "consumer/sinks/sink.hpp",
    "ledger/a.cpp": "config/config.hpp",
    "ledger/b.cpp": "consumer/sinks/sink.hpp",
    "ledger/c.cpp": "spdlog/spdlog.h",
    "shm/e.cpp": "ledger/ledger.hpp",
    "consumer/sinks/b.cpp": "systemd/log.hpp",
    "consumer/d.cpp": "sqlite3.h",
    "producer/a.cpp": "consumer/sinks/sink.hpp",
    "producer/b.cpp": "torch/torch.h",
    "producer/torch/a.cpp": "spdlog/spdlog.h",
    "consumer/a.cpp": "producer/device.hpp",
    "consumer/b.cpp": "cuda_runtime_api.h",
    "consumer/sinks/a.cpp": "consumer/loop.hpp",
    "ctl/a.cpp": "toml++/toml.h",
    "ctl/b.cpp": "boost/interprocess/mapped_region.hpp",
    "ctl/c.cpp": "ATen/ATen.h",
    "ctl/d.cpp": "../shm/ids.hpp",
}

GOOD = {
    "producer/main.cpp": "consumer/sinks/sink.hpp",
    "producer/egress/a.cpp": "cuda_runtime.h",
    "producer/torch/b.cpp": "torch/script.h",
    "consumer/c.cpp": "consumer/sinks/sink.hpp",
    "consumer/e.cpp": "ledger/group_ledger.hpp",
    "shm/f.cpp": "os/clock.hpp",
    "files/c.cpp": "os/io_error.hpp",
    "ledger/d.cpp": "files/atomic_file.hpp",
    "ledger/e.cpp": "sqlite3.h",
    "config/c.cpp": "toml++/toml.h",
    "shm/d.hpp": "boost/interprocess/mapped_region.hpp",
    "ctl/e.cpp": "shm/ring.hpp",
}


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, included in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"#include <{included}>\n")
        return list(faults(root))


class IncludeRules(unittest.TestCase):
    def test_each_violation_is_found(self):
        for name, included in BAD.items():
            with self.subTest(name):
                self.assertEqual(len(faults_of({name: included})), 1)

    def test_what_is_allowed_is_not_reported(self):
        self.assertEqual(faults_of(GOOD), [])

    def test_a_library_wrapped_twice_is_found(self):
        self.assertEqual(len(faults_of({"config/a.cpp": "toml++/toml.h", "config/b.cpp": "toml++/toml.h"})), 1)
        self.assertEqual(len(faults_of({"ledger/a.cpp": "sqlite3.h", "ledger/b.cpp": "sqlite3.h"})), 1)

    def test_an_empty_folder_is_no_success(self):
        self.assertEqual(len(faults_of({})), 1)


if __name__ == "__main__":
    unittest.main()
