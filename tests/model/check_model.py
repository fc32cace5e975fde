#!/usr/bin/env python3
"""Checks slot_protocol.pml with spin.

  check_model.py protocol   the protocol as it is, at several sizes: spin must find nothing
  check_model.py rules      each rule turned off: spin must find the property that the rule is there for

Prints a table of what was searched; exit code 1 if something was not as it must be, 77 where spin or a C compiler
is missing. README.md explains the sizes and the rules.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

MODEL = pathlib.Path(__file__).resolve().parent / "slot_protocol.pml"
SKIPPED = 77
MEMORY_MIB = 950  # of one search; two run at a time

# What spin prints, and the property that it stands for. The first that fits counts.
PROPERTIES = [
    (r"invalid end state", "nobody waits for ever"),
    (r"acceptance cycle", "the job ends"),
    (r"assertion violated \(\(word>>13\)!=2\)", "a lease of the living is not taken"),
    (r"assertion violated \(g\[.*==word\)", "a lease of the living is not taken"),
    (r"assertion violated \(p\[slot\]==ready\)", "a leased slot is not overwritten"),
    (r"assertion violated\s+!\(copy_by\[slot\]\)", "a slot is not filled while an older copy may run"),
    (r"assertion violated \(\(\(\(g\[", "a slot is claimed only when all groups are done with it"),
    (r"assertion violated\s+!\(\(\(committed>>", "a committed batch is not delivered again"),
    (r"assertion violated \(ledger==", "no batch is lost"),
    (r"assertion violated \(known\|\|", "no work is done again"),
    (r"assertion violated\s+\(?\s*!\(\(\(cursor==", "a consumer leaves only when its group has everything"),
    (r"assertion violated rightly", "FINISHED means finished"),
    (r"assertion violated \(activity\[", "nobody is at work in a ring that is replaced"),
    (r"assertion violated \(\(attempts==3\)\|\|", "every death is counted"),
    (r"assertion violated \(\(attempts<=", "a batch is set aside only after max_attempts"),
]


@dataclasses.dataclass(frozen=True)
class Search:
    name: str
    sizes: str  # NAME=VALUE, as in the model
    rule_off: str = ""
    breaks: str = ""  # the property that must be found broken; empty: none
    progress: bool = False  # weak fairness: the job ends
    small: bool = False  # not worth an optimised program

    def defines(self):
        words = self.sizes.split() + ([self.rule_off] if self.rule_off else [])
        return [f"-D{word}" for word in words + (["PROGRESS"] if self.progress else [])]


@dataclasses.dataclass(frozen=True)
class Outcome:
    broken: str  # property, what spin said where it stands for none, or empty
    states: int
    depth: int  # longest path searched; for a counterexample its number of statements
    mebibytes: float
    seconds: float


PROTOCOL = [
    Search("consumers die, fail", "SLOTS=2 CONSUMERS=2 BATCHES=2 CONSUMER_DEATHS=1 FAILURES=1"),
    Search("consumers die, give back", "SLOTS=1 CONSUMERS=2 BATCHES=2 CONSUMER_DEATHS=1 GIVE_BACKS=1"),
    Search("consumers die, leave", "SLOTS=1 CONSUMERS=2 BATCHES=2 CONSUMER_DEATHS=1 LEAVES=1"),
    Search("consumers die twice, batch set aside", "SLOTS=1 CONSUMERS=2 BATCHES=1 CONSUMER_DEATHS=2 MAX_ATTEMPTS=1"),
    Search("generations come round", "SLOTS=1 CONSUMERS=1 BATCHES=2 CONSUMER_DEATHS=3 GENERATIONS=2"),
    Search("producer dies twice", "SLOTS=3 CONSUMERS=1 BATCHES=4 PRODUCER_DEATHS=2"),
    Search("producer is stopped, dies", "SLOTS=2 CONSUMERS=1 BATCHES=3 PRODUCER_DEATHS=1 STOPS=1"),
    Search("two groups, a consumer dies", "SLOTS=2 GROUPS=2 CONSUMERS=2 BATCHES=2 CONSUMER_DEATHS=1"),
    Search("two groups, the producer dies", "SLOTS=1 GROUPS=2 CONSUMERS=2 BATCHES=2 PRODUCER_DEATHS=1"),
    Search("a consumer and the producer die", "SLOTS=2 CONSUMERS=1 BATCHES=3 CONSUMER_DEATHS=1 PRODUCER_DEATHS=1"),
    Search("of two consumers one dies, and the producer",
           "SLOTS=1 CONSUMERS=2 BATCHES=1 CONSUMER_DEATHS=1 PRODUCER_DEATHS=1"),
    Search("some done before", "SLOTS=2 GROUPS=2 CONSUMERS=2 BATCHES=3 ALREADY_DONE=38 CONSUMER_DEATHS=1"),
    Search("new ring, producer dies twice", "SLOTS=2 CONSUMERS=1 BATCHES=3 PRODUCER_DEATHS=2 CHANGES=1"),
    Search("new ring, everybody dies", "SLOTS=2 CONSUMERS=1 BATCHES=2 CONSUMER_DEATHS=1 PRODUCER_DEATHS=1 CHANGES=1"),
    Search("new ring, two groups", "SLOTS=1 GROUPS=2 CONSUMERS=2 BATCHES=2 PRODUCER_DEATHS=1 CHANGES=1"),
    Search("producer drains, dies", "SLOTS=2 CONSUMERS=1 BATCHES=2 PRODUCER_DEATHS=1 DRAINS=1"),
    Search("names are lost, a consumer dies", "SLOTS=2 CONSUMERS=1 BATCHES=3 LOSSES=1 CONSUMER_DEATHS=1"),
    Search("names are lost twice", "SLOTS=1 CONSUMERS=2 BATCHES=2 LOSSES=2"),
    Search("names are lost, two groups", "SLOTS=1 GROUPS=2 CONSUMERS=2 BATCHES=2 LOSSES=1"),
    Search("the job ends, under weak fairness", "SLOTS=1 CONSUMERS=1 BATCHES=2 CONSUMER_DEATHS=1 PRODUCER_DEATHS=1",
           progress=True),
]

ONE_CONSUMER = "SLOTS=1 CONSUMERS=1 "
RULES = [
    Search("lease: G is of an older seq, not of a different one", "SLOTS=1 CONSUMERS=2 BATCHES=2",
           "LEASE_DIFFERENT_SEQ", "a lease of the living is not taken"),
    Search("lease: the attempt is counted in the same CAS", ONE_CONSUMER + "BATCHES=1 CONSUMER_DEATHS=1",
           "ATTEMPT_COUNTED_LATER", "every death is counted"),
    Search("claim: every group is done", "SLOTS=1 GROUPS=2 CONSUMERS=2 BATCHES=2",
           "CLAIM_LOOKS_AT_ONE_GROUP", "a slot is claimed only when all groups are done with it"),
    Search("publish: in the order of the batches", "SLOTS=2 CONSUMERS=1 BATCHES=2 PRODUCER_DEATHS=1",
           "PUBLISH_IN_ANY_ORDER", "no batch is lost"),
    Search("janitor: the word before generation and lock", ONE_CONSUMER + "BATCHES=1 CONSUMER_DEATHS=1",
           "LOCK_BEFORE_WORD", "a lease of the living is not taken"),
    Search("janitor: somebody takes leases of the dead back", "SLOTS=1 CONSUMERS=2 BATCHES=1 CONSUMER_DEATHS=1",
           "NO_JANITOR", "nobody waits for ever"),
    Search("entry: its leases are swept by who takes it",
           ONE_CONSUMER + "BATCHES=1 CONSUMER_DEATHS=2 GENERATIONS=2", "NO_SWEEP", "nobody waits for ever"),
    Search("restart: READY descriptors count", ONE_CONSUMER + "BATCHES=2 PRODUCER_DEATHS=1",
           "NO_READY_DESCRIPTORS", "a committed batch is not delivered again"),
    Search("restart: no seq is used again", ONE_CONSUMER + "BATCHES=2 PRODUCER_DEATHS=1",
           "NO_NEXT_SEQ", "no batch is lost"),
    Search("restart: the predecessor has provably ended", ONE_CONSUMER + "BATCHES=1 PRODUCER_DEATHS=1",
           "NO_PROOF_OF_DEATH", "a slot is not filled while an older copy may run"),
    Search("restart: the own entry is written last", ONE_CONSUMER + "BATCHES=1 PRODUCER_DEATHS=2",
           "ENTRY_BEFORE_PROOF", "a slot is not filled while an older copy may run"),
    Search("stop: the pid stays while slots are FILLING", ONE_CONSUMER + "BATCHES=1 STOPS=1",
           "PID_ALWAYS_CLEARED", "a slot is not filled while an older copy may run"),
    Search("FINISHED: the state is read before the words", ONE_CONSUMER + "BATCHES=1",
           "WORDS_BEFORE_STATE", "a consumer leaves only when its group has everything"),
    Search("FINISHED: read again after the producer's byte", ONE_CONSUMER + "BATCHES=1 DRAINS=1 PRODUCER_DEATHS=1",
           "FINISHED_READ_ONCE", "FINISHED means finished"),
    Search("FINISHED: a successor opens the ring, then takes its byte",
           ONE_CONSUMER + "BATCHES=1 DRAINS=1 PRODUCER_DEATHS=1", "BYTE_BEFORE_OPEN", "FINISHED means finished"),
    Search("new ring: the byte is taken before the state is read",
           ONE_CONSUMER + "BATCHES=1 CONSUMER_DEATHS=1 PRODUCER_DEATHS=1 CHANGES=1", "STATE_BEFORE_BYTE",
           "nobody is at work in a ring that is replaced"),
    Search("new ring: all bytes are free", ONE_CONSUMER + "BATCHES=1 PRODUCER_DEATHS=1 CHANGES=1",
           "RETIRE_OCCUPIED", "nobody is at work in a ring that is replaced"),
    Search("new ring: it starts with the first batch",
           ONE_CONSUMER + "BATCHES=1 CONSUMER_DEATHS=1 PRODUCER_DEATHS=1 CHANGES=1", "CURSOR_IS_CARRIED",
           "no batch is lost"),
    Search("ledger: looked up after each lease", ONE_CONSUMER + "BATCHES=1 CONSUMER_DEATHS=1", "NO_LOOKUP",
           "no work is done again"),
    Search("ledger: the row, then the commit", ONE_CONSUMER + "BATCHES=1", "LEDGER_AFTER_COMMIT",
           "no batch is lost"),
    Search("ledger: to do is what some group lacks", "SLOTS=1 GROUPS=2 CONSUMERS=2 BATCHES=1 ALREADY_DONE=1",
           "PLAN_LOOKS_AT_ONE_GROUP", "no batch is lost"),
]


# Kept in the code as a second line of defence, or for clarity: spin finds nothing without them.
NOT_NEEDED = [
    Search("janitor: the generation before the lock", "SLOTS=1 CONSUMERS=2 BATCHES=1 CONSUMER_DEATHS=1",
           "LOCK_BEFORE_GENERATION"),
    Search("entry: swept before the generation is raised",
           ONE_CONSUMER + "BATCHES=1 CONSUMER_DEATHS=3 GENERATIONS=2", "GENERATION_BEFORE_SWEEP"),
    Search("new ring: the old one is finished first", ONE_CONSUMER + "BATCHES=2 PRODUCER_DEATHS=1 CHANGES=1",
           "RETIRE_UNFINISHED"),
    Search("FINISHED: the cursor is at the end before", ONE_CONSUMER + "BATCHES=2 PRODUCER_DEATHS=2 ALREADY_DONE=2",
           "FINISHED_BEFORE_CURSOR"),
    Search("restart: the cursor is raised before the claim", "SLOTS=2 CONSUMERS=1 BATCHES=3 PRODUCER_DEATHS=1",
           "CURSOR_AFTER_CLAIM"),
    Search("restart: the stored cursor counts", "SLOTS=2 CONSUMERS=1 BATCHES=3 PRODUCER_DEATHS=1", "NO_STORED_CURSOR"),
    Search("restart: stored next_seq, beside the scan", "SLOTS=2 CONSUMERS=1 BATCHES=3 PRODUCER_DEATHS=1",
           "NO_STORED_NEXT_SEQ"),
    Search("restart: highest seq of the words, beside the stored one",
           "SLOTS=2 CONSUMERS=1 BATCHES=3 PRODUCER_DEATHS=1", "NO_SEQ_SCAN"),
]


def run_tool(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_flags(search):
    flags = ["-DNFAIR=3"] if search.progress else ["-DSAFETY"]
    flags.append("-O0" if search.rule_off or search.small else "-O2")
    # Breadth first: the counterexample is a shortest one.
    return flags + (["-DBFS"] if search.rule_off else [])


def run_search(search, compiler):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        run_tool(["spin", "-a", *search.defines(), MODEL], folder)
        run_tool([compiler, "-w", *compile_flags(search), "-DVECTORSZ=512", f"-DMEMLIM={MEMORY_MIB}", "-o", "pan",
                  "pan.c"], folder)
        options = ["-a", "-f"] if search.progress else []
        said = subprocess.run(["./pan", *options, "-m1000000", "-w20"], cwd=folder, capture_output=True,
                              text=True).stdout
        broken = what_is_broken(said)
        depth = count_steps(search, folder) if broken else find_number(r"depth reached (\d+)", said)
        return Outcome(broken, int(find_number(r"(\d+) states, stored", said)), int(depth),
                       find_number(r"([\d.]+)\s+total actual memory", said), time.monotonic() - start)


def find_number(pattern, text):
    found = re.search(pattern, text)
    return float(found.group(1)) if found else 0


def what_is_broken(said):
    error = re.search(r"^pan:1: (.*)", said, re.MULTILINE)
    if error:
        return next((name for pattern, name in PROPERTIES if re.search(pattern, error.group(1))), error.group(1))
    # Anything but a search that came to its end.
    if "errors: 0" not in said or re.search("Search not completed|max search depth", said):
        return "the search did not end: " + said.strip()[-500:]
    return ""


# Statements of the counterexample, without those that start the processes.
def count_steps(search, folder):
    if not list(pathlib.Path(folder).glob("*.trail")):
        return 0
    trail = run_tool(["spin", "-t", "-p", *search.defines(), MODEL.name], copy_model(folder))
    return len(re.findall(r"^\s*\d+:\s+proc\s+\d+ \((?!:init:)", trail, re.MULTILINE))


def copy_model(folder):
    shutil.copy(MODEL, folder)
    return folder


def describe(search, outcome):
    verdict = "ok" if outcome.broken == search.breaks else "WRONG"
    found = outcome.broken or "nothing broken"
    name = search.rule_off or search.name
    return (f"{verdict:5} {name:38} {outcome.states:>9} states  depth {outcome.depth:>6}  "
            f"{outcome.mebibytes:>6.0f} MiB  {outcome.seconds:>5.1f} s  {found}")


def main():
    searches = {"protocol": PROTOCOL, "rules": RULES + NOT_NEEDED}.get(sys.argv[1] if len(sys.argv) == 2 else "")
    if searches is None:
        sys.exit(__doc__)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not shutil.which("spin") or not compiler:
        print("skipped: the model needs spin (Debian package spin) and a C compiler")
        sys.exit(SKIPPED)
    # What breaks when a rule is off must hold at the same size when it is on.
    controls = {search.sizes: Search("every rule on: " + search.sizes, search.sizes, small=True)
                for search in searches if search.breaks}
    right = True
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        everything = [*searches, *controls.values()]
        for search, outcome in zip(everything, pool.map(lambda s: run_search(s, compiler), everything)):
            print(describe(search, outcome), flush=True)
            right = right and outcome.broken == search.breaks
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
