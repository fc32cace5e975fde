"""One round: a whole job under a storm of kills, stops and worse, and the audit of what is left of it."""

import collections
import dataclasses
import pathlib
import random
import shutil
import time

import ledger
import outputs
import ring
from disk import Disk
from job import GROUPS, Job, Layout, write_config
from processes import EXIT_IO, Pipeline, Run, Services, Victim, processes_of

TICK = 0.004
CONSUMER_START = 0.3  # from a consumer's start until it may be expected to work
LOADING_LIMIT = 30.0  # from a producer's start until it is expected to have a ring
PATIENCE = 60.0  # without any progress, although everybody was at work
WHATEVER_PATIENCE = 600.0  # without any progress, although somebody was always missing
HOLD_OFF = 0.9  # chance that a producer is spared until it has got something done
END_LIMIT = 10.0  # for the consumers, after the producer's end

STRATEGIES = ("streams", "async", "pool", "workers")
# What happens beside kills and stops of single processes.
THEMES = {
    "processes": "single processes are killed and stopped",
    "restarts": "from time to time all processes are killed at once and started again, with other slots",
    "disk": "the outputs' file system is full from time to time",
    "ledger-disk": "the same with the ledger on it",
    "names": "from time to time the ring's files are removed (logind's RemoveIPC)",
    "run": "`tailrace run` supervises, and is killed too",
}
NEEDS_MOUNT = ("disk", "ledger-disk")


@dataclasses.dataclass
class Outcome:
    """What one round came to."""

    theme: str
    what: str
    items: int = 0
    lost: int = 0
    doubled: int = 0
    kills: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    stops: int = 0
    events: int = 0  # of the theme
    seconds: float = 0.0
    stall: float = 0.0
    stall_while_stopped: float = 0.0
    ends: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    attempts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    deaths: int = 0
    leftovers: list[str] = dataclasses.field(default_factory=list)
    faults: list[str] = dataclasses.field(default_factory=list)

    def ok(self, stall_limit: float) -> bool:
        return not (self.lost or self.doubled or self.leftovers or self.faults or self.stall > stall_limit)


class StallClock:
    """The longest time in which everybody who is needed lived, and yet nothing was written down."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.longest_while_stopped = 0.0
        self._mark: tuple[int, ...] = ()
        self._progress = self._undisturbed = self._nobody_stopped = time.monotonic()

    def look(self, now: float, mark: tuple[int, ...], disturbed: bool, somebody_stopped: bool) -> None:
        if mark != self._mark:
            self._mark = mark
            self._progress = now
        if disturbed:
            self._undisturbed = now
        if somebody_stopped:
            self._nobody_stopped = now
        stall = now - max(self._progress, self._undisturbed)
        self.longest_while_stopped = max(self.longest_while_stopped, stall)
        self.longest = max(self.longest, min(stall, now - self._nobody_stopped))

    def silence(self, now: float) -> float:
        return now - self._progress

    def quiet(self, now: float) -> float:
        """As silence, but only as long as everybody has been at work."""
        return now - max(self._progress, self._undisturbed)


class Clocks:
    """When which kind of thing is to happen next; exponentially distributed."""

    def __init__(self, rng: random.Random, means: dict[str, float]) -> None:
        self._rng = rng
        self._means = means
        now = time.monotonic()
        self._next = {what: now + self._pause(what) for what in means}

    def _pause(self, what: str) -> float:
        return self._rng.expovariate(1 / self._means[what])

    def due(self, what: str, now: float) -> bool:
        if what not in self._next or now < self._next[what]:
            return False
        self._next[what] = now + self._pause(what)
        return True

    def postpone(self, what: str, now: float) -> None:
        self._next[what] = now + self._pause(what)


class Storm:
    """The round itself."""

    def __init__(self, folder: pathlib.Path, programs: pathlib.Path, name: str, theme: str, job: Job,
                 sums: dict[int, tuple[int, int]], rng: random.Random) -> None:
        self._rng = rng
        self._theme = theme
        self._job = job
        self._sums = sums
        self._name = name
        self._folder = folder
        self._config = folder / "pipeline.toml"
        self._out = folder / "out"
        self._disk: Disk | None = None
        self._layout = Layout(rng.randint(2, 8), rng.choice(STRATEGIES), rng.randint(2, 4), rng.randint(2, 3))
        self._make_folders()
        self._write_config()
        allowed = {EXIT_IO} if self._disk else set()
        self._pipeline: Services | Run = (
            Run(programs, self._config, allowed)
            if theme == "run"
            else Services(programs, self._config, self._layout, allowed)
        )
        self._clock = StallClock()
        self._full_until = 0.0
        self._ring_removed = False
        self._events = 0
        self._clocks = Clocks(rng, self._means())
        self._producer = 0  # pid of the one that has the ring
        self._producer_mark: tuple[int, ...] = ()  # progress when it got the ring
        self._producer_delivered = False  # something has been written down since

    # --- set-up ---

    def _make_folders(self) -> None:
        self._folder.mkdir(parents=True)
        self._state = self._folder / "state"
        if self._theme in NEEDS_MOUNT:
            pages = self._job.items + self._job.items // 64 + 64  # a page for each file, some for their names
            ledger_pages = 4096 if self._theme == "ledger-disk" else 0
            disk = self._folder / "disk"
            self._disk = Disk(disk, (pages + ledger_pages) * 4096)
            if ledger_pages:
                self._state = disk / "state"
            self._out = disk / "out"

    def _write_config(self) -> None:
        write_config(self._config, self._name, self._job, self._layout, self._state, self._out)

    def _means(self) -> dict[str, float]:
        """Seconds between two events of a kind, on average."""
        uniform = self._rng.uniform
        if self._theme == "run":
            return {"consumer": uniform(0.3, 1.0), "producer": uniform(1.5, 4), "run": uniform(4, 10),
                    "stop": uniform(1, 3)}
        means = {"consumer": uniform(0.03, 0.12), "producer": uniform(0.3, 1.5), "stop": uniform(0.5, 3)}
        if self._theme in ("restarts", "names"):
            means[self._theme] = uniform(1.5, 5)
        if self._disk:
            means["disk"] = uniform(0.5, 2)
        return means

    def describe(self) -> str:
        layout = self._layout
        return (f"{self._theme}: {layout.strategy}, {layout.slots} slots, "
                f"{layout.files_consumers}+{layout.sums_consumers} consumers, {self._job.items} items")

    # --- the storm ---

    def _strike(self, now: float, victims: list[Victim]) -> None:
        by_role = collections.defaultdict(list)
        for victim in victims:
            by_role[victim.role].append(victim)
        for role in ("consumer", "producer", "run"):
            if not self._clocks.due(role, now) or not by_role[role]:
                continue
            # A producer needs a second or more to load: most kills are to find it at work, or nothing would ever
            # get done where they come faster.
            if role == "producer" and not self._producer_delivered and self._rng.random() < HOLD_OFF:
                continue
            victim = self._rng.choice(by_role[role])
            self._pipeline.kill(victim)
            victims.remove(victim)
        if self._clocks.due("stop", now) and victims:
            self._pipeline.stop(self._rng.choice(victims), self._rng.uniform(0.02, 0.8))

    def _strike_all(self, now: float) -> None:
        if self._clocks.due("restarts", now):
            self._events += 1
            for victim in self._pipeline.victims():
                self._pipeline.kill(victim)
            self._layout = dataclasses.replace(self._layout, slots=self._rng.randint(2, 8))
            self._write_config()
            self._pipeline.restart_all_at(now + self._rng.uniform(0, 0.3))
        if self._clocks.due("names", now) and ring.remove_names(self._name):
            self._events += 1
        if self._clocks.due("disk", now) and not self._disk.full:
            self._events += 1
            self._disk.fill(self._rng.randint(0, 5))
            self._full_until = now + self._rng.uniform(0.1, 1.5)
        if self._disk and self._disk.full and now >= self._full_until:
            self._disk.empty()
            self._full_until = now + CONSUMER_START
            self._clocks.postpone("disk", now)

    def _is_disturbed(self, now: float, victims: list[Victim]) -> bool:
        """Somebody who is needed is not there, or has only just come."""
        working = [v for v in victims if v.pid not in self._pipeline.continue_at]
        groups = {v.group for v in working if v.role == "consumer" and v.since + CONSUMER_START < now}
        producers = [v for v in working if v.role == "producer"]
        has_ring = bool(producers) and ring.is_alive(self._name, ring.PRODUCER)
        producer = has_ring or any(v.since + LOADING_LIMIT < now for v in producers)
        return not (producer and groups == set(GROUPS)) or now < self._full_until

    def _progress_mark(self) -> tuple[int, ...]:
        return ledger.mark(self._state)

    def _watch_producer(self, victims: list[Victim], mark: tuple[int, ...]) -> None:
        pid = next((v.pid for v in victims if v.role == "producer"), 0)
        if pid != self._producer or not ring.is_alive(self._name, ring.PRODUCER):
            self._producer, self._producer_mark, self._producer_delivered = pid, mark, False
        elif mark != self._producer_mark:
            self._producer_delivered = True

    def _hang(self, now: float) -> str:
        """What there is to say against the pipeline; empty: it gets on."""
        if self._clock.quiet(now) > PATIENCE:
            return f"hang: everybody was at work, and nothing has happened for {PATIENCE:.0f} s"
        if self._clock.silence(now) > WHATEVER_PATIENCE:
            return f"hang: nothing has happened for {WHATEVER_PATIENCE:.0f} s, because somebody was always missing"
        return ""

    def run(self, keep_killing) -> Outcome:
        """`keep_killing`: asked all the time; once it is false the job may end in peace."""
        start = time.monotonic()
        pipeline = self._pipeline
        pipeline.start()
        outcome = Outcome(self._theme, self.describe(), items=self._job.items * len(GROUPS))
        try:
            ledger.place_witness(self._state, lambda: bool(pipeline.victims()))
            while not pipeline.finished and not pipeline.faults:
                now = time.monotonic()
                pipeline.step(now)
                victims = pipeline.victims()
                self._watch_producer(victims, self._progress_mark())
                if keep_killing():
                    self._strike(now, victims)
                    self._strike_all(now)
                elif self._disk and self._disk.full:
                    self._disk.empty()
                now = time.monotonic()
                self._clock.look(now, self._progress_mark(), self._is_disturbed(now, victims),
                                 bool(pipeline.continue_at))
                if fault := self._hang(now):
                    outcome.faults.append(fault)
                    break
                time.sleep(TICK)
            if pipeline.finished:
                if self._disk and self._disk.full:
                    self._disk.empty()
                pipeline.wake(float("inf"))
                outcome.faults += pipeline.await_end(END_LIMIT)
                self._audit(outcome)
        finally:
            pipeline.kill_all()
        self._report(outcome, pipeline, time.monotonic() - start)
        return outcome

    # --- the audit ---

    def _audit(self, outcome: Outcome) -> None:
        lost_files, faults = outputs.faults_of_files(self._out, self._job)
        account = ledger.audit(self._state, self._job, self._sums, self._out)
        outcome.lost = max(account.lost, lost_files)
        outcome.doubled = account.doubled
        outcome.attempts = account.attempts
        outcome.deaths = account.deaths
        outcome.faults += account.faults + faults
        outcome.leftovers += [str(path) for path in ring.files(self._name)]
        outcome.leftovers += [str(path) for path in outputs.temporary_files(self._folder)]
        outcome.leftovers += [f"process {pid}: {command}" for pid, command in processes_of(str(self._config)).items()]

    def _report(self, outcome: Outcome, pipeline: Pipeline, seconds: float) -> None:
        outcome.kills = pipeline.kills
        outcome.stops = pipeline.stops
        outcome.ends = pipeline.ends
        outcome.events = self._events
        outcome.seconds = seconds
        outcome.stall = self._clock.longest
        outcome.stall_while_stopped = self._clock.longest_while_stopped
        outcome.faults += pipeline.faults

    def remove(self) -> None:
        """After a round that was as it should be."""
        if self._disk:
            self._disk.unmount()
        shutil.rmtree(self._folder)
