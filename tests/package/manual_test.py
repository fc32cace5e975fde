#!/usr/bin/env python3
"""The manual's pages, as a reader gets them: manual_test.py BIN_FOLDER MANUAL_FOLDER PACKAGING_FOLDER."""
import gzip
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

BIN, MANUAL, PACKAGING = map(Path, sys.argv[1:4])
sys.path.insert(0, str(PACKAGING))
from program_help import read_programs  # noqa: E402

PAGES = {file.name.split(".gz")[0]: gzip.decompress(file.read_bytes()).decode() for file in MANUAL.glob("man*/*.gz")}
COMMANDS = [command for program in read_programs(BIN) for command in program.with_all_below()]


def page_of(command):
    name = "-".join(command.words)
    return next(text for page, text in PAGES.items() if page.rpartition(".")[0] == name)


def shown(text):
    """What a terminal shows of a page, wide enough that nothing is broken."""
    return subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-rLL=1000n", "-"], input=text, check=True,
                          capture_output=True, text=True).stdout


class Manual(unittest.TestCase):
    def test_there_is_a_page_for_each_command_and_one_for_the_file(self):
        self.assertEqual(len(PAGES), len(COMMANDS) + 1)
        self.assertIn("tailrace.toml.5", PAGES)
        self.assertIn("tailrace-producer.8", PAGES)
        self.assertIn("tailrace-quarantine-retry.1", PAGES)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_a_page_has_every_word_of_the_commands_help(self):
        for command in COMMANDS:
            with self.subTest(command.name):
                # Of long lines only the ends of words count: roff breaks and hyphenates as it likes.
                page = re.sub(r"\s+", " ", shown(page_of(command)))
                for option in command.options + command.arguments:
                    for name in option.names:
                        self.assertIn(name, page)
                    self.assertIn(re.split(r"(?<=[.;:]) ", option.meaning)[0].replace("…", "..."), page)
                for below in command.commands:
                    self.assertIn("-".join(below.words) + "(1)", page)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_the_file_s_page_has_every_key(self):
        defaults = subprocess.run([BIN / "tailrace", "validate", "--defaults"], check=True, capture_output=True, text=True).stdout
        page = re.sub(r" +", " ", shown(PAGES["tailrace.toml.5"]))
        keys = re.findall(r"^#?(\w[\w.]* = .*)$", defaults, re.MULTILINE)
        self.assertGreater(len(keys), 30)
        for key in keys:
            self.assertIn(key, page)

    @unittest.skipUnless(shutil.which("mandoc"), "needs mandoc")
    def test_mandoc_has_nothing_against_a_page(self):
        for page, text in PAGES.items():
            with self.subTest(page):
                lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=text, capture_output=True, text=True)
                self.assertEqual(lint.stdout + lint.stderr, "")

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_groff_has_nothing_against_a_page(self):
        for page, text in PAGES.items():
            with self.subTest(page):
                lint = subprocess.run(["groff", "-man", "-ww", "-z"], input=text, capture_output=True, text=True)
                self.assertEqual(lint.stderr, "")

    def test_a_reference_leads_to_a_page(self):
        for page, text in PAGES.items():
            for name, section in re.findall(r"^\.BR (tailrace\S*) \((\d)\)", text.replace("\\-", "-"), re.MULTILINE):
                self.assertIn(f"{name}.{section}", PAGES, page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
