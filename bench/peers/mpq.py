#!/usr/bin/env python3
"""Hand-over latency and rate of Python's multiprocessing.Queue, which PyTorch's pipelines pass their buffers'
ids through: what `tailrace bench handoff` shows beside its own figures.

One pair of queues, one other process. Latency is half of a round trip of a small tuple; the rate is that of
tuples put one after the other while the other process takes them out. Prints one JSON object:
{"latency_ns": {"p50", "p99", "p999"}, "handovers_per_s"}
"""

import json
import math
import multiprocessing
import time

WARMUP = 200
ROUND_TRIPS = 5_000
PIPELINED = 50_000


def echo(requests, answers):
    """Sends back what comes, until None."""
    for item in iter(requests.get, None):
        answers.put(item)


def count(requests, answers):
    """Takes what comes, until None; then says so."""
    for _ in iter(requests.get, None):
        pass
    answers.put(None)


def with_process(target, measure):
    """What `measure` finds out with another process that runs `target`."""
    requests, answers = multiprocessing.Queue(), multiprocessing.Queue()
    process = multiprocessing.Process(target=target, args=(requests, answers), daemon=True)
    process.start()
    result = measure(requests, answers)
    process.join()
    return result


def latencies_ns(requests, answers):
    """Sorted one-way times."""
    times = []
    for number in range(WARMUP + ROUND_TRIPS):
        start = time.perf_counter_ns()
        requests.put((number, 3))
        answers.get()
        times.append((time.perf_counter_ns() - start) // 2)
    requests.put(None)
    return sorted(times[WARMUP:])


def rate(requests, answers):
    """Tuples a second."""
    start = time.perf_counter()
    for number in range(PIPELINED):
        requests.put((number, 3))
    requests.put(None)
    answers.get()
    return PIPELINED / (time.perf_counter() - start)


def main():
    times = with_process(echo, latencies_ns)
    shares = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
    latency = {name: times[math.ceil(share * len(times)) - 1] for name, share in shares.items()}
    print(json.dumps({"latency_ns": latency, "handovers_per_s": with_process(count, rate)}))


if __name__ == "__main__":
    main()
