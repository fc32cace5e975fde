#!/usr/bin/env python3
"""Pipelines as services of a real systemd: services_test.py BUILD_DIR LIBTORCH_DIR [TEST…].

LIBTORCH_DIR: the folder that holds torch/. Exits with 77 where no machine can be booted.
"""

import json
import sys
import unittest

from machine import in_machine, until

HOLD = "/run/hold"  # a program of a sink waits for as long as this/PIPELINE is there

SLOW_START = 4  # s; less than a network of 180 GFLOP an image takes for its first batch without a GPU

machine = None


class Pipeline:
    """One pipeline of the machine: small synthetic batches on the CPU, enough of them for a minute's work."""

    def __init__(self, name, *groups, items=400_000, extra=""):
        self.name = name
        self.target = f"tailrace@{name}.target"
        self.producer = f"tailrace-producer@{name}.service"
        self.path = f"/etc/tailrace/{name}.toml"
        self.groups = groups
        self.items = items
        self.write(extra)

    def write(self, extra=""):
        machine.write(self.path, f"""
[pipeline]
name = "{self.name}"
device = "cpu"
[source]
kind = "synthetic"
items = {self.items}
batch_size = 4
shape = [16]
workers = 1
[model]
kind = "synthetic"
shape = [16]
[ring]
slots = 4
{extra}
""" + "\n".join(self.groups))
        machine.run("systemctl", "daemon-reload")

    def consumer(self, group="sums", number=1):
        return f"tailrace-consumer@{self.name}:{group}:{number}.service"

    def start(self):
        machine.run("systemctl", "start", self.target)

    def stop(self):
        machine.run("systemctl", "stop", self.target, self.producer, f"tailrace-consumer@{self.name}:*")

    def remove(self):
        """Everything of it, so that the next test finds an idle machine."""
        machine.shell(f"""
            rm -rf {HOLD}/{self.name}
            systemctl kill -s KILL {self.target} {self.producer} 'tailrace-consumer@{self.name}:*' || true
            systemctl stop {self.target} {self.producer} 'tailrace-consumer@{self.name}:*'
            systemctl reset-failed 'tailrace*' || true
            rm -rf /etc/tailrace/{self.name}.toml /etc/tailrace/scale.d/{self.name}:* /etc/systemd/system/tailrace*.d \\
                   /var/lib/tailrace/{self.name} /dev/shm/tailrace.{self.name}.*
            systemctl daemon-reload""")

    def pid(self, unit):
        return int(machine.show(unit, "MainPID"))

    def units(self):
        """The consumers that run."""
        lines = machine.run("systemctl", "list-units", "--plain", "--no-legend", "--state=active",
                            f"tailrace-consumer@{self.name}:*").stdout.splitlines()
        return sorted(line.split()[0].split("@")[1].removesuffix(".service") for line in lines)

    def ring(self):
        """What `tailrace status` says; None: there is no ring."""
        result = machine.run("tailrace", "status", self.name, "--json", check=False)
        rings = json.loads(result.stdout)["rings"] if result.returncode == 0 else []
        return rings[0] if rings and rings[0]["attach"] == "ready" else None

    def batches_done(self, group="sums"):
        return next(entry for entry in self.ring()["groups"] if entry["name"] == group)["counters"]["batches"]


def checksum(processes=1, name="sums"):
    return f'[[group]]\nname = "{name}"\nprocesses = {processes}\nsink = {{ kind = "checksum" }}\n'


def program(script, *, name="work", more=""):
    """A group whose sink is a shell script."""
    command = json.dumps(["/bin/sh", "-c", script])
    return f'[[group]]\nname = "{name}"\n{more}\nsink = {{ kind = "exec", command = {command} }}\n'


def held(name, **options):
    """A group whose program waits while the pipeline is held."""
    return program(f"cat >/dev/null; while [ -e {HOLD}/{name} ]; do sleep 0.05; done", **options)


def drop_in(unit, text):
    machine.write(f"/etc/systemd/system/{unit}.d/test.conf", text)
    machine.run("systemctl", "daemon-reload")


class ServicesTest(unittest.TestCase):
    def pipeline(self, *arguments, **options):
        made = Pipeline(*arguments, **options)
        self.addCleanup(made.remove)
        return made

    def wait(self, condition, what, seconds=20):
        return until(condition, seconds, lambda: f"{what}\n{machine.journal('-b', '-n', '60')}")

    def wait_for_work(self, pipeline, group="sums"):
        """Until batches are done that were not done at the call."""
        before = pipeline.batches_done(group) if pipeline.ring() else 0
        self.wait(lambda: pipeline.ring() and pipeline.batches_done(group) > before + 2,
                  f"{pipeline.name} does not get on")

    def test_a_target_starts_the_producer_and_each_groups_consumers(self):
        seg = self.pipeline("seg", checksum(2), checksum(1, "more"))
        seg.start()
        for unit in (seg.target, seg.producer, seg.consumer(number=1), seg.consumer(number=2), seg.consumer("more")):
            self.assertEqual(machine.show(unit, "ActiveState"), "active", unit)
        self.assertNotEqual(machine.show(seg.producer, "StatusText"), "")
        self.wait_for_work(seg)
        owners = machine.shell("stat -c '%U %G' /dev/shm/tailrace.seg.* /var/lib/tailrace/seg/ledger.sqlite").stdout
        self.assertEqual(set(owners.splitlines()), {"tailrace tailrace"})

    def test_consumers_start_with_the_producer_and_wait_for_the_next_job_at_the_end(self):
        job = self.pipeline("job", checksum(), items=40)
        job.start()
        self.wait(lambda: machine.show(job.producer, "ActiveState") == "inactive", "the producer does not end")
        self.assertEqual(machine.show(job.producer, "Result"), "success")
        self.assertEqual(machine.shell("wc -l < /var/lib/tailrace/job/manifest.jsonl").stdout.strip(), "40")
        self.assertEqual(machine.show(job.consumer(), "ActiveState"), "active")

    def test_a_job_that_is_complete_is_no_failure(self):
        job = self.pipeline("again", checksum(), items=40)
        job.start()
        self.wait(lambda: machine.show(job.producer, "ActiveState") == "inactive", "the producer does not end")
        machine.run("systemctl", "start", job.producer)
        self.wait(lambda: machine.show(job.producer, "ActiveState") == "inactive", "the producer does not end again")
        self.assertEqual(machine.show(job.producer, "Result"), "success")
        self.assertEqual(machine.show(job.producer, "NRestarts"), "0")

    def test_a_job_is_begun_anew_where_its_folder_was_deleted_beside_waiting_consumers(self):
        job = self.pipeline("afresh", checksum(), items=40)
        job.start()
        self.wait(lambda: machine.show(job.producer, "ActiveState") == "inactive", "the producer does not end")
        machine.run("rm", "-r", "/var/lib/tailrace/afresh")
        machine.run("systemctl", "start", job.producer)
        self.wait(lambda: machine.show(job.producer, "ActiveState") == "inactive", "the job is not done again")
        self.assertEqual(machine.shell("wc -l < /var/lib/tailrace/afresh/manifest.jsonl").stdout.strip(), "40")

    def test_items_that_are_set_aside_are_no_failure(self):
        bad = self.pipeline("aside", program("cat >/dev/null; exit 1", more="max_attempts = 1"), items=8)
        bad.start()
        self.wait(lambda: machine.show(bad.producer, "ActiveState") == "inactive", "the producer does not end")
        self.assertEqual(machine.show(bad.producer, "ExecMainStatus"), "3")
        self.assertEqual(machine.show(bad.producer, "Result"), "success")
        self.assertEqual(machine.show(bad.producer, "NRestarts"), "0")

    def test_scale_starts_consumers_and_stops_the_newest(self):
        seg = self.pipeline("scaled", checksum())
        seg.start()
        first = seg.pid(seg.consumer())
        machine.run("tailrace", "scale", "scaled:sums", 4)
        self.assertEqual(seg.units(), [f"scaled:sums:{n}" for n in (1, 2, 3, 4)])
        machine.run("tailrace", "scale", "scaled:sums", 2)
        self.assertEqual(seg.units(), ["scaled:sums:1", "scaled:sums:2"])
        self.assertEqual(seg.pid(seg.consumer()), first)
        machine.run("systemctl", "restart", seg.target)
        self.wait(lambda: seg.units() == ["scaled:sums:1", "scaled:sums:2"], "scale is forgotten by a restart")
        machine.run("tailrace", "scale", "scaled:sums", 0)
        self.assertEqual(seg.units(), [])
        self.assertEqual(machine.show(seg.producer, "ActiveState"), "active")

    def test_consumers_that_the_file_no_longer_asks_for_end_with_the_target(self):
        seg = self.pipeline("fewer", checksum(2))
        seg.start()
        seg.groups = (checksum(1),)
        seg.write()
        self.assertEqual(seg.units(), ["fewer:sums:1", "fewer:sums:2"])
        machine.run("systemctl", "restart", seg.target)
        self.wait(lambda: seg.units() == ["fewer:sums:1"], "the second one goes on")
        seg.write("[[[")
        machine.run("systemctl", "stop", seg.target)
        self.wait(lambda: seg.units() == [], "a consumer outlives its target")

    def test_scale_survives_a_reboot(self):
        seg = self.pipeline("boot", checksum())
        machine.run("systemctl", "enable", seg.target)
        self.addCleanup(machine.run, "systemctl", "disable", seg.target)
        machine.run("tailrace", "scale", "boot:sums", 3)
        self.assertEqual(seg.units(), [])  # its target was never started
        machine.reboot()
        self.wait(lambda: machine.show(seg.target, "ActiveState") == "active", "not started at boot")
        self.assertEqual(seg.units(), [f"boot:sums:{n}" for n in (1, 2, 3)])

    def test_scale_is_for_root(self):
        self.pipeline("mine", checksum())
        result = machine.run("setpriv", "--reuid", "tailrace", "--clear-groups", "tailrace", "scale", "mine:sums", 2,
                             check=False)
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("sudo tailrace scale mine:sums 2", result.stderr)

    def test_a_killed_consumer_is_replaced_and_the_others_do_not_notice(self):
        seg = self.pipeline("killed", checksum(2))
        seg.start()
        producer, other = seg.pid(seg.producer), seg.pid(seg.consumer(number=2))
        machine.run("systemctl", "kill", "-s", "KILL", seg.consumer())
        self.wait(lambda: machine.show(seg.consumer(), "NRestarts") == "1", "no restart")
        self.wait(lambda: machine.show(seg.consumer(), "ActiveState") == "active", "not active again")
        self.wait_for_work(seg)
        self.assertEqual((seg.pid(seg.producer), seg.pid(seg.consumer(number=2))), (producer, other))

    def test_consumers_live_through_their_producers_death_and_restart(self):
        seg = self.pipeline("orphans", checksum(2))
        seg.start()
        consumers = [seg.pid(seg.consumer(number=n)) for n in (1, 2)]
        machine.run("systemctl", "kill", "-s", "KILL", seg.producer)
        self.wait(lambda: machine.show(seg.producer, "NRestarts") == "1", "no restart")
        self.wait(lambda: machine.show(seg.producer, "ActiveState") == "active", "not active again")
        self.wait_for_work(seg)
        machine.run("systemctl", "restart", seg.producer)
        self.wait_for_work(seg)
        self.assertEqual([seg.pid(seg.consumer(number=n)) for n in (1, 2)], consumers)

    def test_the_watchdog_kills_a_consumer_that_hangs(self):
        seg = self.pipeline("hung", held("hung", more='progress_limit = "1 s"\nmax_attempts = 0'))
        drop_in("tailrace-consumer@.service", "[Service]\nWatchdogSec=1s\n")
        machine.run("install", "-D", "/dev/null", f"{HOLD}/hung")
        seg.start()
        self.wait(lambda: "Watchdog timeout" in machine.journal("-u", seg.consumer("work")), "no watchdog")
        machine.run("rm", f"{HOLD}/hung")
        self.wait(lambda: machine.show(seg.consumer("work"), "ActiveState") == "active", "not active again")
        self.wait_for_work(seg, "work")

    def test_a_consumer_that_is_held_back_or_idle_is_left_alone(self):
        seg = self.pipeline("idle", checksum(), held("idle"), items=40)
        drop_in("tailrace-consumer@.service", "[Service]\nWatchdogSec=1s\n")
        drop_in("tailrace-producer@.service", "[Service]\nWatchdogSec=1s\n")
        machine.run("install", "-D", "/dev/null", f"{HOLD}/idle")
        seg.start()
        machine.run("sleep", "3")  # three periods of the watchdog
        self.assertEqual([machine.show(unit, "NRestarts") for unit in
                          (seg.producer, seg.consumer(), seg.consumer("work"))], ["0"] * 3)

    def test_a_start_that_takes_longer_than_its_time_out_but_gets_on_is_let_go_on(self):
        slow = self.pipeline("slow", checksum(), items=8)
        drop_in("tailrace-producer@.service", f"[Service]\nTimeoutStartSec={SLOW_START}s\n")
        machine.write(slow.path, """
[pipeline]
name = "slow"
device = "cpu"
[source]
kind = "synthetic"
items = 2
batch_size = 2
shape = [3, 512, 512]
[model]
kind = "deeplabv3_resnet50"
[[group]]
name = "sums"
sink = { kind = "checksum" }
""")
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "start", slow.producer)
        begun, ready = (int(machine.show(slow.producer, name)) for name in
                        ("ExecMainStartTimestampMonotonic", "ActiveEnterTimestampMonotonic"))
        if ready - begun < SLOW_START * 1e6:
            self.skipTest("this machine is too fast for it")

    def test_stop_lets_a_program_finish_its_batch(self):
        seg = self.pipeline("drained", program(
            "cat >/dev/null; echo begun >> /var/lib/tailrace/drained/log; sleep 1; echo done >> /var/lib/tailrace/drained/log"))
        seg.start()
        log = "/var/lib/tailrace/drained/log"
        self.wait(lambda: machine.run("cat", log, check=False).stdout.count("begun") >= 2, "no second batch")
        seg.stop()
        text = machine.run("cat", log).stdout
        self.assertEqual(text.count("begun"), text.count("done"))
        for unit in (seg.producer, seg.consumer("work")):
            self.assertEqual(machine.show(unit, "Result"), "success", unit)
            self.assertEqual(machine.show(unit, "ExecMainStatus"), "0", unit)

    def test_reload_changes_the_log_level_without_a_restart(self):
        seg = self.pipeline("talk", checksum())
        seg.start()
        units = (seg.producer, seg.consumer())
        pids = [seg.pid(unit) for unit in units]
        seg.write('[log]\nlevel = "debug"')
        machine.run("systemctl", "reload", *units)
        for unit in units:
            self.wait(lambda: "log.level" in machine.journal("-u", unit), f"{unit} did not reload")
        self.assertEqual([seg.pid(unit) for unit in units], pids)

    def test_restarting_the_target_restarts_everything_and_goes_on(self):
        seg = self.pipeline("anew", checksum(2))
        seg.start()
        self.wait_for_work(seg)
        units = (seg.producer, seg.consumer(number=1), seg.consumer(number=2))
        pids = [seg.pid(unit) for unit in units]
        machine.run("systemctl", "restart", seg.target)
        self.wait(lambda: all(seg.pid(unit) not in (0, pid) for unit, pid in zip(units, pids)), "not all restarted")
        self.wait_for_work(seg)

    def test_a_wrong_configuration_is_named_once_and_not_tried_again(self):
        good = self.pipeline("good", checksum())
        bad = self.pipeline("bad", checksum(), extra="slotz = 3")
        bad.start()
        self.wait(lambda: machine.show(bad.producer, "ActiveState") == "failed", "not failed")
        for unit in (bad.producer, bad.consumer()):
            self.assertEqual(machine.show(unit, "ExecMainStatus"), "78", unit)
            self.assertEqual(machine.show(unit, "NRestarts"), "0", unit)
        self.wait(lambda: "slotz" in machine.journal("-u", bad.producer), "the key is not named")
        good.start()
        self.wait_for_work(good)

    def test_a_file_that_is_no_toml_is_for_its_producer_to_say(self):
        bad = self.pipeline("broken", "[[[", items=40)
        good = self.pipeline("whole", checksum())
        bad.start()
        good.start()
        self.wait(lambda: machine.show(bad.producer, "ExecMainStatus") == "78", "the producer says nothing")
        self.wait_for_work(good)

    def test_a_crash_loop_ends_in_failed(self):
        seg = self.pipeline("loop", checksum())
        for template in ("tailrace-producer@.service", "tailrace-consumer@.service"):
            drop_in(template, "[Service]\nExecStart=\nExecStart=/bin/false\nRestartSec=10ms\n")
        machine.run("systemctl", "start", seg.target, check=False)
        for unit in (seg.producer, seg.consumer()):
            self.wait(lambda: f"{unit}: Start request repeated too quickly" in machine.journal(), f"{unit} goes on")
            self.wait(lambda: machine.show(unit, "ActiveState") == "failed", f"{unit} has not failed")

    def test_a_ring_whose_files_are_removed_is_made_again(self):
        seg = self.pipeline("swept", checksum(2))
        seg.start()
        self.wait_for_work(seg)
        pids = [seg.pid(unit) for unit in (seg.producer, seg.consumer(number=1), seg.consumer(number=2))]
        machine.shell("rm /dev/shm/tailrace.swept.*")
        self.wait(lambda: machine.run("test", "-e", "/dev/shm/tailrace.swept.ctl", check=False).returncode == 0,
                  "no new ring")
        self.wait_for_work(seg)
        self.assertEqual(
            [seg.pid(unit) for unit in (seg.producer, seg.consumer(number=1), seg.consumer(number=2))], pids)

    def test_sinks_may_write_their_folders_whatever_these_are_called(self):
        machine.run("install", "-d", "-o", "tailrace", "-g", "tailrace", "/srv/out put/50%")
        seg = self.pipeline("files", '[[group]]\nname = "npy"\nsink = { kind = "npy", path = "/srv/out put/50%/rows" }\n',
                            items=8)
        seg.start()
        self.wait(lambda: machine.show(seg.producer, "ActiveState") == "inactive", "the producer does not end")
        self.assertEqual(machine.shell("ls '/srv/out put/50%/rows' | wc -l").stdout.strip(), "8")
        # What became of the job is told by its ledger, which the services' file leads to.
        job = json.loads(machine.run("tailrace", "status", "files", "--json").stdout)["jobs"][0]
        self.assertEqual((job["state_folder"], job["groups"][0]["done"]), ("/var/lib/tailrace/files", 8))

    def test_a_folder_that_is_not_the_users_is_named_and_not_tried_again(self):
        seg = self.pipeline("closed", '[[group]]\nname = "npy"\nsink = { kind = "npy", path = "/usr/local/rows" }\n')
        seg.start()
        unit = seg.consumer("npy")
        self.wait(lambda: machine.show(unit, "ActiveState") == "failed", "not failed")
        self.assertEqual(machine.show(unit, "ExecMainStatus"), "77")
        # Not by its unit: journald looks for the unit of a line's process, which is gone by then.
        self.wait(lambda: "/usr/local/rows" in machine.journal("TAILRACE_PIPELINE=closed"), "the folder is not named")
        self.assertIn("install -d -o tailrace -g tailrace", machine.journal("TAILRACE_PIPELINE=closed"))

    def test_the_journal_has_the_fields_of_each_line(self):
        seg = self.pipeline("fields", checksum())
        seg.start()
        seg.stop()
        lines = [json.loads(line) for line in machine.journal("-o", "json", "TAILRACE_PIPELINE=fields").splitlines()]
        by_role = {line["TAILRACE_ROLE"]: line for line in lines}
        self.assertEqual(set(by_role), {"producer", "consumer"})
        consumer = by_role["consumer"]
        self.assertEqual((consumer["TAILRACE_GROUP"], consumer["TAILRACE_ID"]), ("sums", "1"))
        self.assertEqual((consumer["_SYSTEMD_UNIT"], consumer["SYSLOG_IDENTIFIER"], consumer["PRIORITY"]),
                         (seg.consumer(), "tailrace-consumer", "6"))

    def test_the_units_are_free_of_faults(self):
        self.pipeline("verified", checksum(), program("cat >/dev/null"))
        # verify takes what follows a colon for an alias: the consumers' drop-ins are laid beside other names.
        result = machine.shell("""
            mkdir -p /tmp/units; cd /tmp/units
            cp /usr/lib/systemd/system/tailrace* .
            for group in sums work; do
              cp tailrace-consumer@.service tailrace-consumer@$group.service
              cp -r /run/systemd/generator/tailrace-consumer@verified:$group:1.service.d tailrace-consumer@$group.service.d
            done
            cp tailrace-producer@.service tailrace-producer@verified.service
            cp -r /run/systemd/generator/tailrace-producer@verified.service.d .
            systemd-analyze verify --man=no ./tailrace*.{service,target,slice}""")
        self.assertEqual(result.stdout + result.stderr, "")

    def test_the_units_are_as_closed_as_their_job_allows(self):
        seg = self.pipeline("secure", checksum(), program("cat >/dev/null; sleep 0.05"))
        seg.start()
        limits = {seg.producer: 4.5, seg.consumer(): 2.5, seg.consumer("work"): 2.5, "tailrace-exporter.service": 2.5}
        for unit, limit in limits.items():
            last = machine.run("systemd-analyze", "security", "--no-pager", unit).stdout.splitlines()[-1]
            exposure = float(last.split("service: ")[1].split()[0])
            print(f"{unit}: exposure {exposure}", file=sys.stderr)
            self.assertLessEqual(exposure, limit, unit)


def run_tests(booted):
    global machine
    machine = booted
    return not unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False, verbosity=2).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(in_machine(run_tests, *sys.argv[1:3]))
