#!/usr/bin/env python3
"""What monitoring/ holds, judged by Prometheus itself: monitoring_test.py SOURCE_DIR BIN_DIR.

A real Prometheus scrapes the exporter of a living pipeline, its answers are compared with `tailrace status`, and
every expression of rules and dashboard is evaluated. Exits with 77 where Prometheus is not installed.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

SOURCE = pathlib.Path(sys.argv[1])
BIN = pathlib.Path(sys.argv[2])
MONITORING = SOURCE / "monitoring"
TOOLS = SOURCE / ".tools/prometheus/usr/bin"  # ./dev setup
SKIPPED = 77
LIMIT_S = 120
# Needs a GPU.
WITHOUT_RESULT_HERE = "tailrace_link_bytes_per_second"


def tool(name):
    return shutil.which(name) or shutil.which(name, path=str(TOOLS))


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def eventually(ask):
    """What `ask` gives as soon as that is something."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        try:
            if result := ask():
                return result
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"{ask} never came true")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def expressions():
    """The dashboard's, as Grafana would send them."""
    values = {"$__rate_interval": "30s", "$instance": ".*", "$pipeline": ".*"}
    for panel in json.loads((MONITORING / "dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", ()):
            text = target["expr"]
            for name, value in values.items():
                text = text.replace(name, value)
            yield panel["title"], text


class Rules(unittest.TestCase):
    def promtool(self, *arguments, **more):
        return subprocess.run([tool("promtool"), *arguments], capture_output=True, text=True, **more)

    def test_promtool_accepts_the_rules(self):
        done = self.promtool("check", "rules", MONITORING / "alerts.yml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_rule_fires_when_it_should_and_only_then(self):
        done = self.promtool("test", "rules", "alerts_test.yml", cwd=MONITORING)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_rule_has_a_test(self):
        rules = set(re.findall(r"alert: (\w+)", (MONITORING / "alerts.yml").read_text()))
        tested = set(re.findall(r"alertname: (\w+)", (MONITORING / "alerts_test.yml").read_text()))
        self.assertEqual(rules, tested)


class Scraped(unittest.TestCase):
    """A pipeline that stands still, half-way: its consumer's program waits."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tailrace monitoring "))
        cls.name = f"monitoring-{os.getpid()}"
        cls.started = []
        try:
            cls.start_all()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        (cls.folder / "go").touch()
        for process in reversed(cls.started):
            process.send_signal(signal.SIGTERM)
        for process in cls.started:
            try:
                process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
        subprocess.run([BIN / "tailrace", "clean", cls.name], capture_output=True)
        shutil.rmtree(cls.folder)

    @classmethod
    def start(cls, *words):
        with (cls.folder / f"{len(cls.started)}.log").open("w") as log:
            cls.started.append(subprocess.Popen(words, cwd=cls.folder, stdout=log, stderr=log))

    @classmethod
    def start_all(cls):
        wait = 'cat >/dev/null; while [ -d \\"$0\\" ] && [ ! -e \\"$0/go\\" ]; do sleep 0.05; done'
        (cls.folder / "p.toml").write_text(f"""
[pipeline]
name = "{cls.name}"
device = "cpu"
[ring]
slots = 3
[source]
kind = "synthetic"
items = 46
batch_size = 4
shape = [2]
[model]
kind = "synthetic"
shape = [6]
[[group]]
name = "sums"
sink = {{ kind = "checksum" }}
[[group]]
name = "held"
max_attempts = 0
sink = {{ kind = "exec", command = ["/bin/sh", "-c", "{wait}", "{cls.folder}"] }}
""")
        cls.start(BIN / "tailrace", "run", "p.toml")
        cls.metrics = f"127.0.0.1:{free_port()}"
        cls.start(BIN / "tailrace", "exporter", "--listen", cls.metrics)
        eventually(lambda: fetch(f"http://{cls.metrics}/readyz/{cls.name}"))
        eventually(lambda: cls.status()["groups"][0]["counters"]["batches"] == 3)
        (cls.folder / "prometheus.yml").write_text(f"""
global: {{ scrape_interval: 500ms, evaluation_interval: 1s }}
rule_files: ["{MONITORING}/alerts.yml"]
scrape_configs:
  - job_name: tailrace
    static_configs: [{{ targets: ["{cls.metrics}"] }}]
""")
        cls.prometheus = f"127.0.0.1:{free_port()}"
        cls.start(tool("prometheus"), "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                  f"--web.listen-address={cls.prometheus}", "--log.level=warn")
        eventually(lambda: cls.query(f'rate(tailrace_batches_total{{pipeline="{cls.name}"}}[30s])'))

    @classmethod
    def status(cls):
        done = subprocess.run([BIN / "tailrace", "status", cls.name, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout)["rings"][0]

    @classmethod
    def query(cls, expression):
        """The result vector; an expression that Prometheus refuses is an HTTPError."""
        url = f"http://{cls.prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        return json.loads(fetch(url))["data"]["result"]

    def value(self, metric, **labels):
        selector = ",".join(f'{key}="{value}"' for key, value in {"pipeline": self.name, **labels}.items())
        (only,) = self.query(f"{metric}{{{selector}}}")
        return float(only["value"][1])

    def test_prometheus_has_what_status_shows(self):
        ring = self.status()
        producer, consumer = {"role": "producer"}, {"role": "consumer"}
        self.assertEqual(self.value("tailrace_batches_total", **producer), ring["counters"]["batches"])
        self.assertEqual(self.value("tailrace_bytes_total", **producer), ring["counters"]["bytes"])
        self.assertEqual(self.value("tailrace_job_published_batches"), ring["published"])
        for group in ring["groups"]:
            of = {"group": group["name"]}
            self.assertEqual(self.value("tailrace_items_total", **of, **consumer), group["counters"]["items"])
            self.assertEqual(self.value("tailrace_slots_held_up", **of), group["slots"]["held_up"])
            for state in ("free", "filling", "ready", "leased", "done"):
                self.assertEqual(self.value("tailrace_slots", **of, state=state), group["slots"][state])

    def test_every_panel_of_the_dashboard_shows_something(self):
        for title, expression in expressions():
            with self.subTest(title):
                result = self.query(expression)
                if not expression.startswith(WITHOUT_RESULT_HERE):
                    self.assertTrue(result, expression)

    def test_prometheus_evaluates_every_rule(self):
        def rules():
            (group,) = json.loads(fetch(f"http://{self.prometheus}/api/v1/rules"))["data"]["groups"]
            return group["rules"] if all(rule["health"] != "unknown" for rule in group["rules"]) else None

        self.assertEqual({rule["health"] for rule in eventually(rules)}, {"ok"})

    def test_promtool_finds_nothing_to_say_about_the_format(self):
        done = subprocess.run([tool("promtool"), "check", "metrics"], capture_output=True, text=True,
                              input=fetch(f"http://{self.metrics}/metrics"))
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


if __name__ == "__main__":
    if not tool("promtool") or not tool("prometheus"):
        print("prometheus is not installed (./dev setup)")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
