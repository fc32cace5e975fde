#!/usr/bin/env python3
"""The published PyTorch design for inference with large outputs, in its five stages, to be run beside Tailrace.

    ladder.py --stages baseline,workers,pool,async,streams --steps 30 --precision tf32

What each stage adds: `baseline` copies the output to the host and writes it out before the next batch;
`workers` hands it to processes through a queue; `pool` copies it into shared buffers that are made once;
`async` pins those, copies without waiting, and a thread waits for the copies' events; `streams` copies on a
stream of its own, beside the next batch's computation. Input comes from a DataLoader and is prefetched on a
stream of its own in every stage. The buffers are pinned by cudaHostRegister after they became shared memory:
share_memory_() on a pinned tensor would lose the pinning, so this is the strongest form of the design.

--model identity computes next to nothing and --fixed-input makes one batch on the device once: together they
leave the way out as the only work. --logits bfloat16 leaves the output of a bfloat16 network as it is.

Prints one line of JSON a stage, each measured in a process of its own. `gpu_busy` is the sum of the times
between events around each batch's computation, over the wall time between two drained borders.
Needs an NVIDIA GPU and torch; torchvision for --model deeplab.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time

import torch
import torch.multiprocessing as mp

CLASSES = 21
STAGES = ("baseline", "workers", "pool", "async", "streams")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", default=",".join(STAGES), help="those to measure, in this order")
    parser.add_argument("--steps", type=int, default=30, help="batches that count")
    parser.add_argument("--warmup", type=int, default=6, help="batches before them")
    parser.add_argument("--batch", type=int, default=64, help="items of a batch")
    parser.add_argument("--size", type=int, default=512, help="height and width of an item")
    parser.add_argument("--workers", type=int, default=8, help="processes that write out, and buffers")
    parser.add_argument("--loaders", type=int, default=8, help="processes that make input")
    parser.add_argument("--precision", default="tf32", choices=("fp32", "tf32", "bf16"))
    parser.add_argument("--logits", default="float32", choices=("float32", "bfloat16"),
                        help="element type of the output of a bf16 network")
    parser.add_argument("--model", default="deeplab", choices=("deeplab", "identity"))
    parser.add_argument("--sink", default="devnull", choices=("devnull", "none"),
                        help="devnull: every byte is copied and written to /dev/null")
    parser.add_argument("--fixed-input", action="store_true", help="one batch, made once on the device")
    arguments = parser.parse_args()
    unknown = set(arguments.stages.split(",")) - set(STAGES)
    if unknown:
        parser.error(f"unknown stages: {', '.join(sorted(unknown))}; there are {', '.join(STAGES)}")
    if arguments.logits == "bfloat16" and arguments.precision != "bf16":
        parser.error("--logits bfloat16 needs --precision bf16")
    return arguments


class RandomImages(torch.utils.data.Dataset):
    def __init__(self, count, size):
        self.count, self.size = count, size

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.randn(3, self.size, self.size)


class Prefetch:
    """Batches of a loader, each copied to the device while the one before is computed."""

    def __init__(self, loader):
        self.batches, self.stream = iter(loader), torch.cuda.Stream()
        self.fill()

    def fill(self):
        batch = next(self.batches, None)
        if batch is None:
            self.following = None
            return
        with torch.cuda.stream(self.stream):
            self.following = batch.to("cuda", non_blocking=True)

    def __next__(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.following
        self.fill()
        return batch


class FixedInput:
    """The same batch again and again, already on the device."""

    def __init__(self, batch, size):
        self.batch = torch.randn(batch, 3, size, size, device="cuda")

    def __next__(self):
        return self.batch


def make_input(a):
    if a.fixed_input:
        return FixedInput(a.batch, a.size)
    images = RandomImages((a.steps + a.warmup) * a.batch, a.size)
    return Prefetch(torch.utils.data.DataLoader(
        images, batch_size=a.batch, num_workers=a.loaders, pin_memory=True, persistent_workers=False))


class Identity(torch.nn.Module):
    """Costs next to nothing and has the output of a segmentation network."""

    def forward(self, x):
        return {"out": x.mean(1, keepdim=True).expand(-1, CLASSES, -1, -1).contiguous()}


def make_model(a):
    if a.model == "identity":
        model = Identity()
    else:
        from torchvision.models.segmentation import deeplabv3_resnet50

        model = deeplabv3_resnet50(weights=None, weights_backbone=None)
    model = model.to("cuda").eval()
    if a.precision == "bf16":
        model = model.to(torch.bfloat16).to(memory_format=torch.channels_last)
    allow_tf32 = a.precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allow_tf32
    torch.backends.cudnn.benchmark = True
    return model


def compute(a, model, batch):
    if a.precision == "bf16":
        batch = batch.to(torch.bfloat16).contiguous(memory_format=torch.channels_last)
    out = model(batch)["out"]
    return out.float().contiguous() if out.dtype != output_type(a) else out.contiguous()


def output_type(a):
    return getattr(torch, a.logits)


def write_out(a, tensor):
    if a.sink == "none":
        return
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.view(torch.int16)  # NumPy has no bfloat16
    with open(os.devnull, "wb") as file:
        file.write(tensor.numpy().tobytes())


def worker(a, pool, work, free):
    """A process that writes out: tensors, or buffers of the pool by number."""
    torch.set_num_threads(1)
    for _, item in iter(work.get, None):
        if pool is None:
            write_out(a, item)
        else:
            write_out(a, pool[item])
            free.put(item)
        work.task_done()


class Egress:
    """The way out of a stage: where a batch's output goes, and how it gets there."""

    def __init__(self, a, stage):
        self.a, self.stage = a, stage
        self.has_workers = stage != "baseline"
        self.has_pool = stage in ("pool", "async", "streams")
        self.overlaps = stage in ("async", "streams")
        self.pool = self.make_pool() if self.has_pool else None
        self.processes = []
        if self.has_workers:
            self.start_workers()
        if self.overlaps:
            self.stream = torch.cuda.Stream() if stage == "streams" else torch.cuda.current_stream()
            self.events = [torch.cuda.Event() for _ in self.pool]
            self.copying = queue.Queue()
            self.listener = threading.Thread(target=self.listen, daemon=True)
            self.listener.start()

    def make_pool(self):
        shape = (self.a.batch, CLASSES, self.a.size, self.a.size)
        pool = [torch.empty(shape, dtype=output_type(self.a)).share_memory_() for _ in range(self.a.workers)]
        for buffer in pool if self.overlaps else ():
            error = torch.cuda.cudart().cudaHostRegister(buffer.data_ptr(), buffer.nbytes, 0)
            assert int(error) == 0, error
        return pool

    def start_workers(self):
        self.work, self.free = mp.JoinableQueue(maxsize=self.a.workers), mp.Queue()
        for number in range(self.a.workers):
            self.free.put(number)
        for _ in range(self.a.workers):
            process = mp.Process(target=worker, args=(self.a, self.pool, self.work, self.free), daemon=True)
            process.start()
            self.processes.append(process)

    def listen(self):
        for item in iter(self.copying.get, None):
            self.events[item[1]].synchronize()
            self.work.put(item)
            self.copying.task_done()

    def submit(self, step, out):
        if not self.has_workers:
            write_out(self.a, out.cpu())
        elif not self.has_pool:
            self.work.put((step, out.cpu()))
        else:
            self.copy(step, out, self.free.get())

    def copy(self, step, out, number):
        if not self.overlaps:
            self.pool[number].copy_(out)
            self.work.put((step, number))
            return
        with torch.cuda.stream(self.stream):
            if self.stage == "streams":
                self.stream.wait_stream(torch.cuda.default_stream())
                out.record_stream(self.stream)
            self.pool[number].copy_(out, non_blocking=True)
            self.events[number].record(self.stream)
        self.copying.put((step, number))

    def drain(self):
        torch.cuda.synchronize()
        if self.overlaps:
            self.copying.join()
        if self.has_workers:
            self.work.join()

    def close(self):
        if self.overlaps:
            self.copying.put(None)
            self.listener.join()
        for _ in self.processes:
            self.work.put(None)
        for process in self.processes:
            process.join(10)
        for buffer in self.pool if self.overlaps else ():
            torch.cuda.cudart().cudaHostUnregister(buffer.data_ptr())


def measure(a, stage):
    egress = Egress(a, stage)
    batches = make_input(a)  # forks, so before the model
    model = make_model(a)
    computed = []
    with torch.inference_mode():
        for step in range(a.warmup + a.steps):
            if step == a.warmup:
                egress.drain()
                start = time.perf_counter()
            batch = next(batches)
            begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
            begin.record()
            out = compute(a, model, batch)
            end.record()
            computed.append((begin, end))
            egress.submit(step, out)
        egress.drain()
        wall_s = time.perf_counter() - start
    compute_s = sum(begin.elapsed_time(end) for begin, end in computed[a.warmup:]) / 1e3
    batch_bytes = out.nbytes
    egress.close()
    return {"stage": stage, "precision": a.precision, "logits": a.logits, "model": a.model, "sink": a.sink,
            "batch_size": a.batch, "size": a.size, "fixed_input": a.fixed_input, "steps": a.steps,
            "steps_per_s": round(a.steps / wall_s, 3),
            "bytes_per_s": round(a.steps * batch_bytes / wall_s),
            "gpu_busy": round(compute_s / wall_s, 4)}


def main():
    a = parse_arguments()
    stages = a.stages.split(",")
    if not torch.cuda.is_available():
        print("ladder.py: needs an NVIDIA GPU, and torch sees none", file=sys.stderr)
        return 69
    if len(stages) == 1:
        print(json.dumps(measure(a, stages[0])), flush=True)
        return 0
    for stage in stages:  # CUDA contexts and fork must not mix
        ended = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--stages", stage])
        if ended.returncode != 0:
            return ended.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
