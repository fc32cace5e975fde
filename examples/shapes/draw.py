#!/usr/bin/env python3
"""Draws pictures of circles, squares, triangles and stars on textured noise, with the true mask of each.

Writes OUT/images/*.jpg|png and OUT/truth/<stem>.png (8-bit, value = class index). The same seed and count give
the same pixels on every machine with the same numpy and pillow.
"""
import argparse
import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

CLASSES = ("background", "circle", "square", "triangle", "star")
SCALE = 4  # shapes are drawn this much larger and averaged, so that edges are smooth


def smooth_noise(rng, height, width, cells):
    """Values 0…1 that change over about 1/cells of the picture."""
    grid = rng.random((cells + 1, cells + 1)).astype(np.float32)
    return np.asarray(Image.fromarray(grid).resize((width, height), Image.BICUBIC))


def background(rng, height, width):
    """A soft blend of two muted colours, with clouds, stripes now and then, and grain; float RGB 0…255."""
    blend = 0.6 * smooth_noise(rng, height, width, 3) + 0.4 * smooth_noise(rng, height, width, 9)
    if rng.random() < 0.4:
        y, x = np.mgrid[0:height, 0:width]
        angle, period = rng.uniform(0, math.pi), rng.uniform(9, 30)
        stripes = np.sin((x * math.cos(angle) + y * math.sin(angle)) * 2 * math.pi / period)
        blend = blend + rng.uniform(0.05, 0.18) * stripes
    first, second = rng.uniform(20, 235, 3), rng.uniform(20, 235, 3)
    second = first + (second - first) * 0.5
    picture = first + (second - first) * blend[..., None]
    return picture + rng.normal(0, rng.uniform(2, 9), picture.shape)


def outline(kind, centre, radius, angle):
    """Corner points of a shape whose corners lie on a circle of `radius`."""
    if kind == "star":
        radii, corners = (radius, radius * 0.48), 10
    else:
        radii, corners = (radius,), {"square": 4, "triangle": 3}[kind]
    turns = [angle + 2 * math.pi * i / corners for i in range(corners)]
    return [(centre[0] + radii[i % len(radii)] * math.cos(t), centre[1] + radii[i % len(radii)] * math.sin(t))
            for i, t in enumerate(turns)]


def coverage_of(kind, centre, radius, angle, height, width):
    """How much of each pixel the shape covers, 0…1."""
    canvas = Image.new("L", (width * SCALE, height * SCALE))
    draw = ImageDraw.Draw(canvas)
    x, y, r = centre[0] * SCALE, centre[1] * SCALE, radius * SCALE
    if kind == "circle":
        draw.ellipse((x - r, y - r, x + r, y + r), fill=255)
    else:
        draw.polygon(outline(kind, (x, y), r, angle), fill=255)
    return np.asarray(canvas.reduce(SCALE), dtype=np.float32) / 255


def place(rng, height, width, count):
    """Up to `count` circles (x, y, radius) that do not touch each other and lie inside the picture."""
    placed = []
    for _ in range(count * 12):
        radius = rng.uniform(0.13, 0.27) * min(height, width)
        x, y = rng.uniform(radius, width - radius), rng.uniform(radius, height - radius)
        if all(math.hypot(x - a, y - b) > radius + r + 3 for a, b, r in placed):
            placed.append((x, y, radius))
        if len(placed) == count:
            break
    return placed


def contrasting_colour(rng, surrounding):
    """A vivid colour that can be told from what is around the shape."""
    while True:
        colour = rng.uniform(10, 250, 3)
        if np.ptp(colour) > 70 and np.abs(colour - surrounding).sum() > 130:
            return colour


def draw_picture(rng):
    """One picture (uint8 [H, W, 3]) and its mask (uint8 [H, W])."""
    width, height = (256, 192) if rng.random() < 0.5 else (int(rng.integers(160, 321)), int(rng.integers(144, 289)))
    picture = background(rng, height, width)
    mask = np.zeros((height, width), np.uint8)
    for x, y, radius in place(rng, height, width, int(rng.integers(2, 6))):
        index = int(rng.integers(1, len(CLASSES)))
        cover = coverage_of(CLASSES[index], (x, y), radius, rng.uniform(0, 2 * math.pi), height, width)
        inside = cover > 0.5
        colour = contrasting_colour(rng, picture[inside].mean(axis=0))
        shade = 1 + 0.25 * (smooth_noise(rng, height, width, 2)[..., None] - 0.5)
        paint = colour * shade + rng.normal(0, 4, picture.shape)
        picture += cover[..., None] * (paint - picture)
        mask[inside] = index
    return np.clip(picture, 0, 255).astype(np.uint8), mask


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write images/ and truth/ into")
    parser.add_argument("--count", type=int, default=48, help="number of pictures (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default %(default)s")
    arguments = parser.parse_args()
    images, truth = arguments.out / "images", arguments.out / "truth"
    images.mkdir(parents=True, exist_ok=True)
    truth.mkdir(parents=True, exist_ok=True)
    for index in range(arguments.count):
        picture, mask = draw_picture(np.random.default_rng((arguments.seed, index)))
        suffix, options = (".jpg", {"quality": 92}) if index % 3 else (".png", {})
        Image.fromarray(picture).save(images / f"shapes_{index:04d}{suffix}", **options)
        Image.fromarray(mask).save(truth / f"shapes_{index:04d}.png")
    print(f"{arguments.count} pictures in {images}, their masks in {truth}")


if __name__ == "__main__":
    main()
