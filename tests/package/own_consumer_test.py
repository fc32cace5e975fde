#!/usr/bin/env python3
"""Programs of one's own against what is installed: own_consumer_test.py SOURCE_FOLDER BUILD_FOLDER BIN_FOLDER COMPILER."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, BIN, COMPILER = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
HERE = Path(__file__).resolve().parent
ITEMS, CLASSES, HEIGHT, WIDTH = 10, 5, 12, 16
PIPELINE = f"""
[pipeline]
name = "own-consumer-{os.getpid()}"
[ring]
slots = 2
[source]
kind = "synthetic"
items = {ITEMS}
batch_size = 4
shape = [1]
workers = 1
[model]
kind = "synthetic"
shape = [{CLASSES}, {HEIGHT}, {WIDTH}]
[[group]]
name = "sums"
sink = {{ kind = "checksum" }}
[[group]]
name = "classes"
processes = 0
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, **options)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class OwnConsumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="own consumer "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "installed"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "dev")
        cls.program = cls.build(SOURCE / "examples/consumer") / "class_histograms"
        cls.config = cls.folder / "pipeline.toml"
        cls.config.write_text(PIPELINE)
        cls.out = cls.folder / "histograms"

    @classmethod
    def build(cls, source, *options):
        build = cls.folder / f"build-{source.name}"
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={cls.prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", *options)
        run("cmake", "--build", build)
        return build

    def own_consumer(self):
        command = [self.program, "--config", self.config, "--group", "classes", self.out]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def test_1_the_example_takes_part_in_a_pipeline_as_a_group_of_its_own(self):
        with self.own_consumer() as consumer:
            ran = run(BIN / "tailrace", "run", self.config)
            said = consumer.communicate(timeout=60)[1]
            self.assertEqual(consumer.returncode, 0, said)
        self.assertIn("given to programs of your own", ran.stdout)
        lines = next(self.folder.glob(".tailrace/*/manifest.jsonl")).read_text().splitlines()
        manifest = [json.loads(line) for line in lines]
        self.assertEqual(len(manifest), ITEMS)
        for line in manifest:
            mine = line["groups"]["classes"]
            self.assertEqual(mine["state"], "done")
            rows = [row.split(",") for row in Path(mine["files"][0]).read_text().split()]
            self.assertEqual(rows[0], ["class", "pixels"])
            self.assertEqual(sum(int(pixels) for _, pixels in rows[1:]), HEIGHT * WIDTH)
        self.assertEqual(len(list(self.out.iterdir())), ITEMS)

    def test_2_it_ends_when_it_comes_too_late(self):
        with self.own_consumer() as consumer:
            said = consumer.communicate(timeout=60)[1]
        self.assertEqual(consumer.returncode, 0, said)
        self.assertIn("the job is complete", said)

    def test_it_names_itself_and_refuses_what_tailrace_consumer_refuses(self):
        self.assertEqual(run(self.program, "--version").stdout, "class_histograms 1.0\n")
        self.assertIn("FOLDER", run(self.program, "--help").stdout)
        no_argument = subprocess.run([self.program, "--config", self.config, "--group", "classes"], capture_output=True, text=True)
        self.assertEqual(no_argument.returncode, 2)
        self.assertIn("FOLDER", no_argument.stderr)
        no_group = subprocess.run([self.program, "--config", self.config, "--group", "x", self.out], capture_output=True, text=True)
        self.assertEqual(no_group.returncode, 2)
        self.assertIn("it has: sums, classes", no_group.stderr)
        no_folder = subprocess.run([self.program, "--config", self.config, "--group", "classes", "/proc/none"],
                                   capture_output=True, text=True)
        self.assertIn(no_folder.returncode, (74, 77), no_folder.stderr)

    def test_the_ring_s_library_needs_no_other(self):
        build = self.build(HERE / "shm_only", "-DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON")
        self.assertEqual(subprocess.run([build / "look_at_ring", "no-such-ring"]).returncode, 1)

    def test_a_component_that_there_is_not_is_refused_by_name(self):
        source = self.folder / "wrong"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES CXX)\n"
                                               "find_package(tailrace REQUIRED COMPONENTS producer)\n")
        made = subprocess.run(["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                              capture_output=True, text=True)
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("there is no component producer", made.stderr)

    def test_every_installed_header_stands_by_itself(self):
        include = self.prefix / "include/tailrace"
        headers = sorted(str(header.relative_to(include)) for header in include.rglob("*.hpp"))
        self.assertGreater(len(headers), 30)
        for order in (headers, headers[::-1]):
            text = "".join(f"#include <{header}>\n" for header in order)
            run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", f"-I{include}", "-", input=text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
