#!/usr/bin/env python3
"""Many batches and many consumers that come and go: memory, open files and mappings of all processes must stay flat.

One pipeline on the CPU with the synthetic model and two groups of checksums. One consumer of each group stays; others
of the first group attach, work, and are asked to leave again, one after the other. Samples from /proc of the producer
and of the consumers that stay give a straight line each (least squares, after a warm-up); what it grows by over the whole
time must be within the limits.
"""

import argparse
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import ring

HERE = pathlib.Path(__file__).resolve().parent
WARM_UP = 0.2  # of the time: allocators, caches and the ledger's log find their size
SAMPLE_EVERY = 0.1
STAY = 0.03  # of a guest
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024
LIMITS = {"rss_kib": 2048.0, "fds": 0.5, "maps": 4.0}  # growth over the whole time


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=10_000, help="at least (default: %(default)s)")
    parser.add_argument("--cycles", type=int, default=500, help="consumers that come and go (default: %(default)s)")
    parser.add_argument("--programs", type=pathlib.Path, default=HERE.parents[1] / "build/bin",
                        help="folder of the programs (default: build/bin)")
    return parser.parse_args()


@dataclasses.dataclass(frozen=True)
class Sample:
    seconds: float
    rss_kib: float
    fds: float
    maps: float


class Watched:
    """A process that stays, and its samples."""

    def __init__(self, title: str, pid: int) -> None:
        self.title = title
        self.folder = pathlib.Path(f"/proc/{pid}")
        self.samples: list[Sample] = []

    def look(self, seconds: float) -> None:
        rss = int((self.folder / "statm").read_text().split()[1]) * PAGE_KIB
        fds = len(os.listdir(self.folder / "fd"))
        maps = (self.folder / "maps").read_bytes().count(b"\n")
        self.samples.append(Sample(seconds, rss, fds, maps))

    def growth(self, what: str) -> tuple[float, float]:
        """Of the line through the samples: value at its beginning, and what it grows by until its end."""
        samples = [s for s in self.samples if s.seconds >= WARM_UP * self.samples[-1].seconds]
        xs = [s.seconds for s in samples]
        ys = [getattr(s, what) for s in samples]
        mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
        spread = sum((x - mean_x) ** 2 for x in xs)
        slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / spread
        return mean_y + slope * (xs[0] - mean_x), slope * (xs[-1] - xs[0])


class Soak:
    """The pipeline."""

    def __init__(self, programs: pathlib.Path, folder: pathlib.Path) -> None:
        self._programs = programs
        self._name = f"soak-{os.getpid()}"
        self._config = folder / "pipeline.toml"
        self._log = open(folder / "log", "wb")
        # More batches than there will be time for: the end comes by `tailrace drain`.
        self._config.write_text(f"""\
[pipeline]
name = "{self._name}"
device = "cpu"
[source]
kind = "synthetic"
items = 2_000_000
batch_size = 4
shape = [2]
workers = 1
[model]
kind = "synthetic"
shape = [1024]
[[group]]
name = "first"
sink = {{ kind = "checksum" }}
[[group]]
name = "second"
sink = {{ kind = "checksum" }}
""")

    def _start(self, program: str, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([self._programs / program, f"--config={self._config}", *arguments],
                                stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)

    def run(self, batches: int, cycles: int) -> list[Watched]:
        processes = [self._start("tailrace-producer"), self._start("tailrace-consumer", "--group=first", "--id=1"),
                     self._start("tailrace-consumer", "--group=second", "--id=1")]
        try:
            watched = [Watched(title, process.pid)
                       for title, process in zip(("producer", "consumer first", "consumer second"), processes)]
            self._work(watched, batches, cycles)
            subprocess.run([self._programs / "tailrace", "drain", self._name], check=True)
            codes = [process.wait(60) for process in processes]
            if codes != [0, 0, 0]:
                sys.exit(f"the processes ended with {codes}, see {self._log.name}")
        finally:
            for process in processes:
                process.kill()
                process.wait()
            if sys.exc_info()[0] is not None:
                subprocess.run([self._programs / "tailrace", "clean", self._name], check=False)
        if left := ring.files(self._name):
            sys.exit(f"left over: {left}")
        return watched

    def _work(self, watched: list[Watched], batches: int, cycles: int) -> None:
        guest_entry = len(watched)
        while not all(ring.is_alive(self._name, entry) for entry in range(guest_entry)):
            time.sleep(0.01)
        start = next_sample = time.monotonic()
        done = 0
        guest: subprocess.Popen | None = None
        leave_at: float | None = None
        while done < cycles or ring.cursor(self._name) < batches:
            now = time.monotonic()
            if now >= next_sample:
                next_sample += SAMPLE_EVERY
                for process in watched:
                    process.look(now - start)
            if guest is None:
                guest = self._start("tailrace-consumer", "--group=first", "--id=2")
                leave_at = None
            elif leave_at is None:
                leave_at = now + STAY if ring.is_alive(self._name, guest_entry) else None
            elif now >= leave_at:
                guest.send_signal(signal.SIGTERM)
                if guest.wait(30) != 0:
                    sys.exit(f"a consumer that was asked to leave ended with {guest.returncode}")
                guest = None
                done += 1
            time.sleep(0.005)
        if guest is not None:
            guest.kill()
            guest.wait()
        print(f"{ring.cursor(self._name)} batches, {done} consumers came and went, {time.monotonic() - start:.0f} s")


def report(watched: list[Watched]) -> bool:
    good = True
    print(f"{'':18} {'':8} {'at first':>10} {'grew by':>10} {'limit':>8}")
    for process in watched:
        for what, limit in LIMITS.items():
            first, growth = process.growth(what)
            flat = growth <= limit
            good = good and flat
            print(f"{process.title:18} {what:8} {first:10.1f} {growth:+10.2f} {limit:8.1f}{'' if flat else '  GROWS'}")
    return good


def main() -> int:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="tailrace-soak-") as folder:
        watched = Soak(arguments.programs.resolve(), pathlib.Path(folder)).run(arguments.batches, arguments.cycles)
    return 0 if report(watched) else 1


if __name__ == "__main__":
    sys.exit(main())
