#!/usr/bin/env python3
"""Runs whole pipelines under a storm of SIGKILLs, SIGSTOPs and worse, and audits what they leave behind.

Each round is one job from beginning to end: two groups, "files" (one .npy file for each item) and "sums" (checksums),
on the CPU with the synthetic model, whose every value is known. Processes are killed and stopped at random moments and
started again at once, as a service manager would. When the job is done, each group must have each item exactly once in
the ledger with the bytes and checksum of a clean run, each file must be there, whole and right, and nothing else: no
temporary file, nothing in /dev/shm, no process.

lost     (group, item) pairs without a row in the ledger, or without a right file
doubled  rows that a process wanted to write although the item had one: its batch was worked on again after that had
         been recorded (counted by a trigger in the ledger, in the writer's own transaction)
stall    the longest time in which the producer and a consumer of each group were at work, nobody was stopped, the disk
         had room, and still nothing was written into the ledger; the times of starting do not count
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import disk
import ledger
import ring
from job import Job, Layout, write_config
from storm import NEEDS_MOUNT, THEMES, Outcome, Storm

HERE = pathlib.Path(__file__).resolve().parent


def parse_arguments() -> argparse.Namespace:
    themes = "\n".join(f"  {name:12} {what}" for name, what in THEMES.items())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"themes:\n{themes}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5, help="how long to go on (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=0, help="end after so many SIGKILLs, whatever the time")
    parser.add_argument("--seed", type=int, help="repeats the choices (not the moments) of a former run")
    parser.add_argument("--round", type=int, help="only this round of that seed")
    parser.add_argument("--theme", choices=THEMES, action="append", help="only these; may be repeated")
    parser.add_argument("--items", type=int, default=20_000, help="of each round's job (default: %(default)s)")
    parser.add_argument("--stall-limit", type=float, default=1.0, metavar="SECONDS",
                        help="a longer stall is a failure (default: %(default)s)")
    parser.add_argument("--programs", type=pathlib.Path, default=HERE.parents[1] / "build/bin",
                        help="folder of the programs (default: build/bin)")
    parser.add_argument("--folder", type=pathlib.Path, help="where to work (default: a new one in $TMPDIR)")
    return parser.parse_args()


def clean_sums(folder: pathlib.Path, programs: pathlib.Path, name: str, job: Job) -> dict[int, tuple[int, int]]:
    """What a run without any disturbance gives for the group "sums"."""
    folder.mkdir()
    config = folder / "pipeline.toml"
    write_config(config, name, job, Layout(8, "streams", 1, 1), folder / "state", folder / "out")
    run = subprocess.run([programs / "tailrace", "run", config], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"a clean run failed with {run.returncode}:\n{run.stderr}")
    return ledger.read_sums(folder / "state")


def line_of(number: int, outcome: Outcome) -> str:
    kills = ", ".join(f"{role} {count}" for role, count in sorted(outcome.kills.items()))
    events = f", {outcome.events} times {outcome.theme}" if outcome.events else ""
    return (f"round {number:3}  {outcome.what}: {outcome.kills.total()} kills ({kills}), {outcome.stops} stops{events},"
            f" {outcome.seconds:.1f} s, longest stall {outcome.stall:.2f} s")


def print_faults(outcome: Outcome, stall_limit: float) -> None:
    print(f"FAILED: {outcome.lost} lost, {outcome.doubled} doubled, {len(outcome.leftovers)} left over")
    if outcome.stall > stall_limit:
        print(f"  nobody did anything for {outcome.stall:.2f} s, although everybody was there")
    for text in [*outcome.faults[:20], *outcome.leftovers[:20]]:
        print(f"  {text}")


def print_summary(outcomes: list[Outcome], seconds: float) -> None:
    def total(values) -> collections.Counter:
        return sum(values, collections.Counter())

    def line(what: str, value: object) -> None:
        print(f"{what:24} {value}")

    def by_count(counter: collections.Counter) -> str:
        return ", ".join(f"{what} {count}" for what, count in sorted(counter.items())) or "none"

    kills = total(o.kills for o in outcomes)
    print()
    line("rounds", by_count(collections.Counter(o.theme for o in outcomes)))
    line("time", f"{seconds / 60:.1f} min")
    line("SIGKILLs", f"{kills.total()} ({by_count(kills)})")
    line("SIGSTOPs", sum(o.stops for o in outcomes))
    line("events", by_count(total(collections.Counter({o.theme: o.events}) for o in outcomes if o.events)))
    line("ends by themselves", by_count(total(o.ends for o in outcomes)))
    line("items", sum(o.items for o in outcomes))
    line("deliveries of a batch", by_count(total(o.attempts for o in outcomes)))
    line("deaths written down", sum(o.deaths for o in outcomes))
    line("lost", sum(o.lost for o in outcomes))
    line("doubled", sum(o.doubled for o in outcomes))
    line("longest stall", f"{max(o.stall for o in outcomes):.2f} s"
         f" ({max(o.stall_while_stopped for o in outcomes):.2f} s while somebody was stopped)")
    line("left over", sum(len(o.leftovers) for o in outcomes))


class Harness:
    """The rounds, one after the other."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
        self._themes = arguments.theme or list(THEMES)
        self._job = Job(items=arguments.items, batch_size=4)
        self._outcomes: list[Outcome] = []
        self._start = time.monotonic()

    def _keep_killing(self) -> bool:
        if self._arguments.round is not None:
            return True
        kills = sum(outcome.kills.total() for outcome in self._outcomes)
        if self._arguments.kills:
            return kills < self._arguments.kills
        return time.monotonic() - self._start < 60 * self._arguments.minutes

    def _play(self, number: int, folder: pathlib.Path, sums: dict[int, tuple[int, int]]) -> bool:
        rng = random.Random(f"{self._seed}/{number}")
        storm = Storm(folder / f"round-{number}", self._arguments.programs, f"chaos-{os.getpid()}",
                      self._themes[number % len(self._themes)], self._job, sums, rng)
        outcome = storm.run(self._keep_killing)
        self._outcomes.append(outcome)
        print(line_of(number, outcome), flush=True)
        if not outcome.ok(self._arguments.stall_limit):
            print_faults(outcome, self._arguments.stall_limit)
            print(f"its folder: {folder / f'round-{number}'}\nagain: {self._again(number)}")
            if ring.files(f"chaos-{os.getpid()}"):
                print(f"its ring is still there: tailrace status chaos-{os.getpid()}, tailrace clean chaos-{os.getpid()}")
            return False
        storm.remove()
        return True

    def _again(self, number: int) -> str:
        words = [sys.argv[0], f"--seed={self._seed}", f"--round={number}", f"--items={self._arguments.items}",
                 f"--programs={self._arguments.programs}"]
        return " ".join(words + [f"--theme={theme}" for theme in self._arguments.theme or []])

    def _skip_what_needs_mounts(self) -> None:
        wanted = [theme for theme in self._themes if theme in NEEDS_MOUNT]
        reason = disk.make_mounts_private() if wanted else ""
        if reason:
            print(f"skipped: {', '.join(wanted)} (no mounts of one's own here: {reason})")
            self._themes = [theme for theme in self._themes if theme not in NEEDS_MOUNT]

    def run(self, folder: pathlib.Path) -> int:
        self._skip_what_needs_mounts()
        print(f"seed {self._seed}, in {folder}", flush=True)
        sums = clean_sums(folder / "clean", self._arguments.programs, f"chaos-{os.getpid()}", self._job)
        self._start = time.monotonic()
        if self._arguments.round is not None:
            numbers = iter([self._arguments.round])
        else:
            numbers = iter(range(1 << 30))
        good = True
        for number in numbers:
            if not good or not self._keep_killing():
                break
            good = self._play(number, folder, sums)
        if self._outcomes:
            print_summary(self._outcomes, time.monotonic() - self._start)
        return 0 if good else 1


def main() -> int:
    arguments = parse_arguments()
    arguments.programs = arguments.programs.resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as an exception: processes are killed on the way out
    folder = arguments.folder or pathlib.Path(tempfile.mkdtemp(prefix="tailrace-chaos-"))
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        code = Harness(arguments).run(folder)
    except KeyboardInterrupt:
        print(f"\ninterrupted; its folder: {folder}")
        return 130
    if code == 0:
        shutil.rmtree(folder / "clean")
        if arguments.folder is None:
            folder.rmdir()
    return code


if __name__ == "__main__":
    sys.exit(main())
