"""Processes of a pipeline, started and supervised by the harness itself or by `tailrace run`."""

import collections
import ctypes
import dataclasses
import os
import pathlib
import signal
import subprocess
import time

from job import Layout

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)

EXIT_DONE = 0
EXIT_IO = 74
EXIT_TRY_AGAIN = 75


def _die_with_harness() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclasses.dataclass(frozen=True)
class Victim:
    """A living process of the pipeline."""

    role: str  # producer, consumer, run
    group: str  # of a consumer
    pid: int
    since: float  # monotonic, of its start


class Process:
    """One process and its successors. What they print goes to one file."""

    def __init__(self, role: str, group: str, command: list[str], log: pathlib.Path) -> None:
        self.role = role
        self.group = group
        self.command = command
        self.log = log
        self.popen: subprocess.Popen | None = None
        self.started = 0.0
        self.restart_at: float | None = None

    @property
    def title(self) -> str:
        return f"{self.role} {self.group}".strip()

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.popen = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=_die_with_harness
            )
        self.started = time.monotonic()
        self.restart_at = None

    def running(self) -> bool:
        return self.popen is not None and self.popen.returncode is None

    def last_lines(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in lines[-5:])


class Pipeline:
    """What both ways of supervising share: counts of kills and stops, and who is stopped until when."""

    def __init__(self, allowed: set[int]) -> None:
        self.kills: collections.Counter[str] = collections.Counter()
        self.stops = 0
        self.ends: collections.Counter[str] = collections.Counter()  # that nobody of the harness caused
        self.faults: list[str] = []
        self.finished = False  # the job is done and its producer, or run, has ended
        self.last_end = time.monotonic()
        self.continue_at: dict[int, float] = {}
        self._allowed = allowed | {EXIT_DONE, EXIT_TRY_AGAIN, -signal.SIGKILL}

    def stop(self, victim: Victim, seconds: float) -> None:
        os.kill(victim.pid, signal.SIGSTOP)
        self.continue_at[victim.pid] = time.monotonic() + seconds
        self.stops += 1

    def wake(self, now: float) -> None:
        """Continues those whose time has come."""
        for pid in [pid for pid, when in self.continue_at.items() if when <= now]:
            del self.continue_at[pid]
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass

    def _note_end(self, process: Process) -> int:
        """Reaped: says what was not to be expected. Returns the code."""
        code = process.popen.returncode
        self.continue_at.pop(process.popen.pid, None)
        self.last_end = time.monotonic()
        if code != -signal.SIGKILL:
            self.ends[f"{process.role} {code}"] += 1
        if code not in self._allowed:
            self.faults.append(f"{process.title} ended with {code}:\n{process.last_lines()}")
        return code


class Services(Pipeline):
    """Each process is started, and started again, as a service manager would."""

    def __init__(self, programs: pathlib.Path, config: pathlib.Path, layout: Layout, allowed: set[int]) -> None:
        super().__init__(allowed)
        logs = config.parent
        self.producer = Process(
            "producer", "", [str(programs / "tailrace-producer"), f"--config={config}"], logs / "producer.log"
        )
        consumer = [str(programs / "tailrace-consumer"), f"--config={config}"]
        self.consumers = [
            Process("consumer", group, [*consumer, f"--group={group}", f"--id={number}"], logs / f"{group}-{number}.log")
            for group, number in layout.consumers
        ]

    @property
    def processes(self) -> list[Process]:
        return [self.producer, *self.consumers]

    def start(self) -> None:
        for process in self.processes:
            process.start()

    def victims(self) -> list[Victim]:
        return [Victim(p.role, p.group, p.popen.pid, p.started) for p in self.processes if p.running()]

    def kill(self, victim: Victim) -> None:
        os.kill(victim.pid, signal.SIGKILL)  # still ours: it is reaped in step() only

    def step(self, now: float) -> None:
        """Reaps, and starts again what is due."""
        self.wake(now)
        for process in self.processes:
            if process.running() and process.popen.poll() is not None:
                self._on_end(process, now)
            if process.restart_at is not None and process.restart_at <= now and not self.finished:
                process.start()

    def _on_end(self, process: Process, now: float) -> None:
        code = self._note_end(process)
        if code == -signal.SIGKILL:
            self.kills[process.role] += 1
        if process is self.producer and code == EXIT_DONE:
            self.finished = True
        process.restart_at = now + (0.0 if code == -signal.SIGKILL else 0.2)

    def restart_all_at(self, when: float) -> None:
        """After everybody was killed: a machine, or a session, that comes back."""
        for process in self.processes:
            process.popen.wait()
            self._on_end(process, when)
            process.restart_at = when

    def await_end(self, limit: float) -> list[str]:
        """After the producer's end: the consumers leave by themselves. Names those that do not, and kills them."""
        deadline = time.monotonic() + limit
        late = []
        for process in self.consumers:
            if not process.running():
                continue
            try:
                process.popen.wait(max(0.0, deadline - time.monotonic()))
                self._note_end(process)
            except subprocess.TimeoutExpired:
                late.append(f"{process.title} did not end by itself:\n{process.last_lines()}")
                process.popen.kill()
                process.popen.wait()
        return late

    def kill_all(self) -> None:
        for process in self.processes:
            if process.running():
                process.popen.kill()
                process.popen.wait()


class Run(Pipeline):
    """`tailrace run` starts the processes; the harness starts it again when it ends before its job is done."""

    def __init__(self, programs: pathlib.Path, config: pathlib.Path, allowed: set[int]) -> None:
        super().__init__(allowed | {128 + signal.SIGKILL})
        self._config = str(config)
        self._run = Process("run", "", [str(programs / "tailrace"), "run", str(config)], config.parent / "run.log")
        self._seen: dict[int, Victim] = {}

    def start(self) -> None:
        self._run.start()

    def victims(self) -> list[Victim]:
        if not self._run.running():
            return []
        pid = self._run.popen.pid
        try:
            children = [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            children = []
        self._seen = {child: self._seen.get(child) or self._look_at(child) for child in children}
        return [Victim("run", "", pid, self._run.started), *(victim for victim in self._seen.values() if victim)]

    def _look_at(self, pid: int) -> Victim | None:
        """None: not yet one of the programs, or dead already."""
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            return None
        if f"--config={self._config}" not in words:
            return None
        group = next((word.removeprefix("--group=") for word in words if word.startswith("--group=")), "")
        return Victim("consumer" if group else "producer", group, pid, time.monotonic())

    def kill(self, victim: Victim) -> None:
        try:
            os.kill(victim.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        if victim.role != "run":  # which is counted when it is reaped
            self.kills[victim.role] += 1
            self._seen[victim.pid] = None

    def step(self, now: float) -> None:
        self.wake(now)
        if self._run.running() and self._run.popen.poll() is not None:
            code = self._note_end(self._run)
            if code == -signal.SIGKILL:
                self.kills["run"] += 1
            if code == EXIT_DONE:
                self.finished = True
            self._run.restart_at = now + 0.1
        if self._run.restart_at is not None and self._run.restart_at <= now and not self.finished:
            self._run.start()

    def await_end(self, limit: float) -> list[str]:
        """The children of a run that was killed leave by themselves, too."""
        deadline = time.monotonic() + limit
        while left := processes_of(self._config):
            if time.monotonic() > deadline:
                return [f"process {pid} did not end by itself: {command}" for pid, command in left.items()]
            time.sleep(0.01)
        return []

    def kill_all(self) -> None:
        if self._run.running():
            self._run.popen.kill()
            self._run.popen.wait()
        for pid in processes_of(self._config):
            os.kill(pid, signal.SIGKILL)


def processes_of(config: str) -> dict[int, str]:
    """Pid → command line of every living process that was started with this configuration."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if int(folder.name) != os.getpid() and any(config in word for word in words[1:]):
            found[int(folder.name)] = " ".join(words).strip()
    return found
