#!/usr/bin/env python3
"""Compares masks with the truth: prints the IoU of each class and their mean; exits with 1 below --threshold.

MASKS and TRUTH are folders of 8-bit PNGs (value = class index) with the same names and sizes.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from draw import CLASSES

SHOWN_PROBLEMS = 5


def confusion(mask, truth):
    """Pixels by [true class, found class]; an index that is no class counts as a class of its own."""
    count = len(CLASSES) + 1
    pairs = np.minimum(truth, count - 1).astype(np.int64) * count + np.minimum(mask, count - 1)
    return np.bincount(pairs.ravel(), minlength=count * count).reshape(count, count)


def iou_by_class(total):
    """IoU of every class that occurs in the truth or in the masks, by class index."""
    both = np.diag(total)
    either = total.sum(0) + total.sum(1) - both
    return {index: both[index] / either[index] for index in range(len(CLASSES)) if either[index]}


def compare(masks, truth):
    """The summed confusion of all pictures, and what is wrong with the masks as lines of text."""
    total, problems = np.zeros((len(CLASSES) + 1,) * 2, np.int64), []
    names = sorted(path.relative_to(truth) for path in truth.rglob("*.png"))
    if not names:
        problems.append(f"no *.png in {truth}")
    for name in names:
        if not (masks / name).is_file():
            problems.append(f"{name}: no mask in {masks}")
            continue
        found, true = (np.asarray(Image.open(folder / name)) for folder in (masks, truth))
        if found.shape != true.shape:
            problems.append(f"{name}: the mask is {found.shape}, the truth {true.shape} (height, width); "
                            "set original_size = true in the sink")
            continue
        total += confusion(found, true)
    return total, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("masks", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--threshold", type=float, default=0.0, help="lowest mean IoU that passes")
    arguments = parser.parse_args()
    total, problems = compare(arguments.masks, arguments.truth)
    for problem in problems[:SHOWN_PROBLEMS]:
        print(problem, file=sys.stderr)
    if len(problems) > SHOWN_PROBLEMS:
        print(f"... and {len(problems) - SHOWN_PROBLEMS} more like that", file=sys.stderr)
    ious = iou_by_class(total)
    for index, iou in ious.items():
        print(f"{CLASSES[index]:<12}{iou:.4f}")
    mean = sum(ious.values()) / len(ious) if ious else 0.0
    print(f"{'mean IoU':<12}{mean:.4f}")
    if mean < arguments.threshold:
        print(f"mean IoU {mean:.4f} is below the threshold {arguments.threshold}", file=sys.stderr)
    return 1 if problems or mean < arguments.threshold else 0


if __name__ == "__main__":
    sys.exit(main())
