"""The job that the harness runs again and again: its configuration, and what must come out of it."""

import array
import dataclasses
import pathlib

VALUES = 256  # int32 values of an item's output
MODULUS = 16_777_213  # of the synthetic model, see producer/torch/synthetic_values.hpp


@dataclasses.dataclass(frozen=True)
class Job:
    """What decides about the results."""

    items: int
    batch_size: int

    @property
    def batches(self) -> int:
        return -(-self.items // self.batch_size)

    def values_of(self, item: int) -> bytes:
        """The bytes of an item's output."""
        batch, row = divmod(item, self.batch_size)
        first = 7919 * batch + 613 * row
        return array.array("i", ((first + i) % MODULUS for i in range(VALUES))).tobytes()

    def file_of(self, item: int) -> str:
        """Name of an item's file in the folder of the group "files"."""
        digits = max(6, len(str(self.items - 1)))
        return f"{item:0{digits}}.npy"


@dataclasses.dataclass(frozen=True)
class Layout:
    """What does not decide about the results, and so may change from start to start."""

    slots: int
    strategy: str
    files_consumers: int
    sums_consumers: int

    @property
    def consumers(self) -> list[tuple[str, int]]:
        """Group and number of each consumer."""
        return [("files", i + 1) for i in range(self.files_consumers)] + [
            ("sums", i + 1) for i in range(self.sums_consumers)
        ]


GROUPS = ("files", "sums")


def write_config(path: pathlib.Path, name: str, job: Job, layout: Layout, state: pathlib.Path,
                 out: pathlib.Path) -> None:
    """Writes (atomically: somebody may be starting) the pipeline's TOML file."""
    text = f"""\
[pipeline]
name = "{name}"
device = "cpu"
state = "{state}"
[ring]
slots = {layout.slots}
[source]
kind = "synthetic"
items = {job.items}
batch_size = {job.batch_size}
shape = [2]
workers = 1
[model]
kind = "synthetic"
shape = [{VALUES}]
dtype = "int32"
[egress]
strategy = "{layout.strategy}"
[[group]]
name = "files"
processes = {layout.files_consumers}
max_attempts = 0
sink = {{ kind = "npy", path = "{out}" }}
[[group]]
name = "sums"
processes = {layout.sums_consumers}
max_attempts = 0
sink = {{ kind = "checksum" }}
"""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)
