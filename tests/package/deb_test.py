#!/usr/bin/env python3
"""The Debian packages, as CPack makes them of a finished build: deb_test.py SOURCE_FOLDER BUILD_FOLDER VERSION."""
import gzip
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, VERSION = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
LIBTORCH = "/opt/tailrace/libtorch"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def dead_links(folder):
    """The links of all Markdown files below a folder that lead to no file there, as "FILE: LINK"."""
    dead = []
    for file in sorted(folder.rglob("*.md")):
        text = re.sub(r"^```.*?^```", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)#]+)", text):
            if "://" not in link and not (file.parent / link).exists():
                dead.append(f"{file.relative_to(folder)}: {link}")
    return dead


class Package:
    def __init__(self, file, folder):
        folder.mkdir()
        self.file, self.root, self.control = file, folder / "root", folder / "control"
        subprocess.run(["dpkg-deb", "--raw-extract", file, self.root], check=True)
        (self.root / "DEBIAN").rename(self.control)
        listing = subprocess.run(["dpkg-deb", "--fsys-tarfile", file], check=True, capture_output=True).stdout
        with tempfile.TemporaryFile() as tar:
            tar.write(listing)
            tar.seek(0)
            self.members = {member.name.removeprefix("./"): member for member in tarfile.open(fileobj=tar)}

    def field(self, name):
        return output_of("dpkg-deb", "--field", self.file, name).strip()

    def files(self):
        return [path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()]


class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        made = subprocess.run(["cpack", "-G", "DEB", "-B", cls.folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"], cwd=BUILD, capture_output=True, text=True)
        if made.returncode:
            raise AssertionError(made.stdout + made.stderr)
        architecture = output_of("dpkg", "--print-architecture").strip()
        cls.runtime, cls.dev = (Package(cls.folder / f"{name}_{VERSION}_{architecture}.deb", cls.folder / name)
                                for name in ("tailrace", "tailrace-dev"))

    def test_programs_configuration_manual_completion_demo_and_units_are_where_a_machine_looks_for_them(self):
        for name in ("usr/bin/tailrace", "usr/bin/tailrace-consumer", "usr/bin/tailrace-producer", "etc/tailrace/demo.toml",
                     "usr/share/doc/tailrace/examples/pipeline.toml", "usr/share/doc/tailrace/copyright",
                     "usr/share/doc/tailrace/docs/operations.md", "usr/share/man/man1/tailrace.1.gz",
                     "usr/share/man/man8/tailrace-producer.8.gz", "usr/share/man/man5/tailrace.toml.5.gz",
                     "usr/share/bash-completion/completions/tailrace-consumer", "usr/share/tailrace/demo/shapes.pt",
                     "usr/lib/systemd/system/tailrace@.target", "usr/lib/sysusers.d/tailrace.conf"):
            self.assertIn(name, self.runtime.members)
        for name in ("usr/include/tailrace/consumer/consumer_main.hpp", "usr/lib/cmake/tailrace/tailraceConfig.cmake",
                     "usr/share/doc/tailrace-dev/examples/consumer/CMakeLists.txt"):
            self.assertIn(name, self.dev.members)

    def test_links_of_documents_lead_somewhere_in_the_sources_and_where_they_are_installed(self):
        for folder in (SOURCE / "docs", SOURCE / "bench", self.runtime.root / "usr/share/doc"):
            self.assertEqual(dead_links(folder), [])

    def test_no_file_is_in_both_packages(self):
        names = [{name for name, member in package.members.items() if not member.isdir()} for package in (self.runtime, self.dev)]
        self.assertEqual(names[0] & names[1], set())

    def test_files_are_root_s_and_nobody_else_may_write_them(self):
        for package in (self.runtime, self.dev):
            for name, member in package.members.items():
                with self.subTest(name):
                    self.assertEqual((member.uid, member.gid), (0, 0))
                    executable = member.isdir() or name.startswith(("usr/bin/", "usr/lib/systemd/system-generators/"))
                    if not member.issym():
                        self.assertEqual(oct(member.mode), oct(0o755 if executable else 0o644))

    def test_what_an_administrator_edits_is_kept_by_upgrades(self):
        kept = (self.runtime.control / "conffiles").read_text().split()
        self.assertEqual(kept, ["/" + name for name, member in self.runtime.members.items()
                                if name.startswith("etc/") and not member.isdir()])

    def test_scripts_are_executable_and_are_shell_scripts(self):
        for name in ("postinst", "prerm", "postrm"):
            script = self.runtime.control / name
            self.assertEqual(stat.S_IMODE(script.stat().st_mode), 0o755, name)
            self.assertEqual(output_of("sh", "-n", script), "")
            self.assertNotRegex(script.read_text(), r"@\w+@")

    def test_no_file_knows_where_it_was_built(self):
        for package in (self.runtime, self.dev):
            for file in package.files():
                content = file.read_bytes()
                for place in (SOURCE, BUILD, SOURCE.resolve(), BUILD.resolve()):
                    self.assertNotIn(bytes(place), content, f"{file} has {place} in it")

    def test_only_the_producer_looks_for_libraries_in_a_place_of_its_own(self):
        for file in self.runtime.files():
            if file.read_bytes()[:4] != b"\x7fELF":
                continue
            paths = re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", output_of("readelf", "-d", file))
            if file.name != "tailrace-producer":
                self.assertEqual(paths, [], file)
                continue
            folders = paths[0].split(":")
            self.assertIn(f"{LIBTORCH}/torch/lib", folders)
            self.assertEqual([folder for folder in folders if not folder.startswith(LIBTORCH)], [])

    def test_system_libraries_are_dependencies_and_libtorch_is_none(self):
        depends = self.runtime.field("Depends")
        for library in ("libc6", "libsqlite3-0", "libsystemd0", "libvips42", "systemd"):
            self.assertIn(library, depends)
        self.assertNotIn("torch", depends)
        self.assertIn("libsqlite3-dev", self.dev.field("Depends"))

    def test_the_changelog_says_the_version(self):
        changelog = gzip.decompress((self.runtime.root / "usr/share/doc/tailrace/changelog.gz").read_bytes()).decode()
        self.assertTrue(changelog.startswith(f"tailrace ({VERSION}) "), changelog.split("\n")[0])
        self.assertEqual(self.runtime.field("Version"), VERSION)

    def test_the_demo_s_configuration_is_valid_where_it_will_be(self):
        text = (self.runtime.root / "etc/tailrace/demo.toml").read_text()
        # As installed, but for the root of the file system.
        there = self.folder / "demo.toml"
        there.write_text(text.replace('"/usr/share', f'"{self.runtime.root}/usr/share').replace('"/var/lib', f'"{self.folder}/var/lib'))
        checked = subprocess.run([self.runtime.root / "usr/bin/tailrace", "validate", there], capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        self.assertEqual(text.count("/usr/share/tailrace/demo/"), 2)

    def test_a_copy_of_the_demo_s_configuration_has_a_state_of_its_own(self):
        self.assertNotRegex((self.runtime.root / "etc/tailrace/demo.toml").read_text(), r"(?m)^state\b")

    def test_the_demo_is_small(self):
        size = sum(file.stat().st_size for file in (self.runtime.root / "usr/share/tailrace/demo").rglob("*.*"))
        self.assertLess(size, 3_000_000)

    @unittest.skipUnless(shutil.which("lintian"), "needs lintian")
    def test_lintian_has_nothing_against_them(self):
        lint = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", self.runtime.file, self.dev.file],
                              capture_output=True, text=True)
        self.assertEqual(lint.returncode, 0, lint.stdout + lint.stderr)


if __name__ == "__main__":
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
        print("needs dpkg-dev")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
