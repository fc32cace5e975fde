#!/usr/bin/env python3
"""Writes the second example: sequences to embed, and a TorchScript encoder with random but fixed weights.

OUT/sequences/*.npy: float32 [rows, 64, 32]. OUT/encoder.pt: [batch, 64, 32] to {"embedding": [batch, 128]}, each
embedding of length 1.
"""
import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn

LENGTH, FEATURES, EMBEDDING = 64, 32, 128


class Encoder(nn.Module):
    """A GRU over the sequence, its outputs averaged and projected."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(FEATURES, 96, batch_first=True)
        self.project = nn.Linear(96, EMBEDDING)

    def forward(self, sequences):
        outputs, _ = self.gru(sequences)
        return {"embedding": nn.functional.normalize(self.project(outputs.mean(dim=1)), dim=1)}


def random_walks(rng, rows):
    """Smooth curves: each feature is a random walk with its own pace."""
    steps = rng.normal(0, 1, (rows, LENGTH, FEATURES)) * rng.uniform(0.02, 0.3, (rows, 1, FEATURES))
    return np.cumsum(steps, axis=1).astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--files", type=int, default=5, help="default %(default)s")
    parser.add_argument("--rows", type=int, default=200, help="sequences in a file (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default %(default)s")
    arguments = parser.parse_args()
    sequences = arguments.out / "sequences"
    sequences.mkdir(parents=True, exist_ok=True)
    for index in range(arguments.files):
        rng = np.random.default_rng((arguments.seed, index))
        np.save(sequences / f"walks_{index:02d}.npy", random_walks(rng, arguments.rows))
    torch.manual_seed(arguments.seed)
    torch.jit.script(Encoder().eval()).save(str(arguments.out / "encoder.pt"))
    print(f"{arguments.files} x {arguments.rows} sequences in {sequences}, the encoder in {arguments.out / 'encoder.pt'}")


if __name__ == "__main__":
    main()
