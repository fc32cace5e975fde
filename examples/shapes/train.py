#!/usr/bin/env python3
"""Trains shapes.pt, the small segmentation network of the example, on freshly drawn pictures.

Input: float32 [batch, 3, H, W], RGB 0…1 normalised with ImageNet's mean and standard deviation, H and W multiples
of 8. Output: {"out": logits [batch, 5, H, W]}. Takes a few minutes on two CPU cores.
"""
import argparse
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional

from draw import CLASSES, draw_picture
from score import confusion, iou_by_class

MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def block(inputs, outputs, stride=1, dilation=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, dilation, dilation, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class ShapeNet(nn.Module):
    """A U-Net with strides 2, 4, 8 and 16 whose bottom sees the whole of a shape by dilation."""

    def __init__(self):
        super().__init__()
        self.to_half = nn.Sequential(block(3, 16, stride=2), block(16, 16))
        self.to_quarter = nn.Sequential(block(16, 32, stride=2), block(32, 32))
        self.to_eighth = nn.Sequential(block(32, 48, stride=2), block(48, 48))
        self.bottom = nn.Sequential(block(48, 60, stride=2), block(60, 60, dilation=2), block(60, 60, dilation=2))
        self.up_eighth = block(60 + 48, 40)
        self.up_quarter = block(40 + 32, 32)
        self.up_half = block(32 + 16, 16)
        self.head = nn.Conv2d(16 + 3, len(CLASSES), 3, padding=1)

    def forward(self, x):
        half = self.to_half(x)
        quarter = self.to_quarter(half)
        eighth = self.to_eighth(quarter)
        y = self.up_eighth(self.beside(self.bottom(eighth), eighth))
        y = self.up_quarter(self.beside(y, quarter))
        y = self.up_half(self.beside(y, half))
        return {"out": self.head(self.beside(y, x))}

    def beside(self, coarse, fine):
        """Both at the size of `fine`, channels side by side."""
        size = [fine.shape[2], fine.shape[3]]
        return torch.cat([functional.interpolate(coarse, size, mode="bilinear", align_corners=False), fine], 1)


def fit(picture, size):
    """Scales to fit size x size and pads with zeros, as `resize = "fit"` does; also where the content lies."""
    height, width = picture.shape[:2]
    scale = size / max(height, width)
    h, w = max(1, round(height * scale)), max(1, round(width * scale))
    top, left = (size - h) // 2, (size - w) // 2
    mode = Image.BILINEAR if picture.ndim == 3 else Image.NEAREST
    out = np.zeros((size, size) + picture.shape[2:], np.uint8)
    out[top:top + h, left:left + w] = np.asarray(Image.fromarray(picture).resize((w, h), mode))
    return out, (top, left, h, w)


def normalised(picture):
    return (torch.from_numpy(picture).permute(2, 0, 1).float() / 255 - MEAN) / STD


def batch_of(samples, rng, count, size):
    """Random pictures, flipped and turned at random."""
    inputs, targets = [], []
    for index in rng.integers(0, len(samples), count):
        picture, mask = (np.rot90(array, turn) for turn in [rng.integers(4)] for array in samples[index])
        if rng.random() < 0.5:
            picture, mask = picture[:, ::-1], mask[:, ::-1]
        if rng.random() < 0.3:
            picture = picture[..., rng.permutation(3)]
        inputs.append(normalised(fit(np.ascontiguousarray(picture), size)[0]))
        targets.append(torch.from_numpy(fit(np.ascontiguousarray(mask), size)[0]).long())
    return torch.stack(inputs), torch.stack(targets)


def train(net, samples, steps, seed):
    """AdamW with a cosine rate; every step sees about as many pixels, in few large or many small pictures."""
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=1e-3)
    weights = torch.tensor([0.6, 1, 1, 1, 1])
    start = time.monotonic()
    for step in range(steps):
        done = step / steps
        for group in optimiser.param_groups:
            group["lr"] = 4e-3 * min(1, done / 0.05) * 0.5 * (1 + np.cos(np.pi * done)) + 1e-5
        size = int(rng.choice([64, 96, 128] if done < 0.5 else [96, 128, 160, 192]))
        inputs, targets = batch_of(samples, rng, round(8 * (128 / size) ** 2), size)
        with torch.autocast("cpu", torch.bfloat16):
            logits = net(inputs.contiguous(memory_format=torch.channels_last))["out"]
        loss = functional.cross_entropy(logits.float(), targets, weights)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 50 == 0:
            print(f"{time.monotonic() - start:6.0f} s  step {step:5d}  size {size:3d}  loss {loss.item():.4f}", flush=True)


@torch.no_grad()
def mean_iou(net, samples, size):
    """Over unseen pictures at their own size, the mask enlarged by nearest neighbour: the hard way."""
    total = 0
    for picture, mask in samples:
        fitted, (top, left, h, w) = fit(picture, size)
        found = net(normalised(fitted)[None])["out"][0].argmax(0).byte().numpy()[top:top + h, left:left + w]
        found = Image.fromarray(np.ascontiguousarray(found)).resize(mask.shape[::-1], Image.NEAREST)
        total = total + confusion(np.asarray(found), mask)
    ious = iou_by_class(total)
    return sum(ious.values()) / len(ious)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("shapes.pt"))
    parser.add_argument("--steps", type=int, default=2200, help="default %(default)s")
    parser.add_argument("--pictures", type=int, default=800, help="training pictures (default %(default)s)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    samples = [draw_picture(np.random.default_rng((1000, i))) for i in range(arguments.pictures)]
    unseen = [draw_picture(np.random.default_rng((2000, i))) for i in range(60)]
    net = ShapeNet().to(memory_format=torch.channels_last)
    train(net.train(), samples, arguments.steps, arguments.seed)
    net.eval().to(memory_format=torch.contiguous_format)
    for size in (160, 192, 256):
        print(f"mean IoU on unseen pictures at {size}x{size}: {mean_iou(net, unseen, size):.4f}")
    torch.jit.script(net).save(str(arguments.out))
    print(f"{arguments.out}: {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
