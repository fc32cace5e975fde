#!/usr/bin/env python3
"""Puts pictures, found masks, true masks and overlays side by side on one sheet.

MASKS and TRUTH hold PNGs named like the pictures (class index per pixel).
"""
import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from draw import CLASSES

COLOURS = np.array([(34, 38, 46), (86, 180, 233), (240, 180, 41), (0, 178, 127), (222, 90, 130)], np.uint8)
PAPER, INK, FAINT = (250, 250, 247), (30, 34, 40), (120, 126, 134)
CELL, GAP, MARGIN = (248, 186), 12, 36
COLUMNS = ("picture", "found", "truth", "overlay")


def font(size):
    return ImageFont.load_default(size)


def coloured(mask):
    return COLOURS[np.minimum(mask, len(CLASSES) - 1)]


def edges(mask):
    """Pixels whose right or lower neighbour is of another class."""
    edge = np.zeros(mask.shape, bool)
    edge[:, :-1] |= mask[:, :-1] != mask[:, 1:]
    edge[:-1] |= mask[:-1] != mask[1:]
    return edge


def overlay(picture, mask):
    """Grey where it is background; where something was found its class's colour, shaded and outlined."""
    brightness = picture.mean(axis=2, keepdims=True) / 255
    result = np.where((mask > 0)[..., None], coloured(mask) * (0.55 + 0.45 * brightness), brightness * 150)
    result[edges(mask)] = 255
    return result.astype(np.uint8)


def cell(array):
    """Scaled to fit a cell, centred on the paper."""
    image = Image.fromarray(array)
    scale = min(CELL[0] / image.width, CELL[1] / image.height)
    size = (round(image.width * scale), round(image.height * scale))
    framed = Image.new("RGB", CELL, PAPER)
    framed.paste(image.resize(size, Image.LANCZOS), ((CELL[0] - size[0]) // 2, (CELL[1] - size[1]) // 2))
    return framed


def legend(draw, right, top):
    for name, colour in reversed(list(zip(CLASSES, COLOURS))[1:]):
        right -= draw.textlength(name, font(20))
        draw.text((right, top), name, INK, font(20))
        right -= 26
        draw.rounded_rectangle((right, top + 4, right + 18, top + 22), 4, fill=tuple(int(c) for c in colour))
        right -= 20


def draw_sheet(rows, title):
    """`rows`: lists of the four arrays of a picture; two pictures go side by side."""
    pairs = (len(rows) + 1) // 2
    block = len(COLUMNS) * (CELL[0] + GAP) - GAP
    width = 2 * MARGIN + 2 * block + 3 * GAP
    top = MARGIN + 74
    sheet = Image.new("RGB", (width, top + pairs * (CELL[1] + GAP) + MARGIN - GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((MARGIN, MARGIN - 8), title, INK, font(30))
    legend(draw, width - MARGIN, MARGIN)
    for index, arrays in enumerate(rows):
        left = MARGIN + (index % 2) * (block + 3 * GAP)
        for column, array in enumerate(arrays):
            x = left + column * (CELL[0] + GAP)
            if index < 2:
                draw.text((x, top - 30), COLUMNS[column], FAINT, font(20))
            sheet.paste(cell(array), (x, top + (index // 2) * (CELL[1] + GAP)))
    return sheet


def read_row(path, masks, truth):
    picture = np.asarray(Image.open(path).convert("RGB"))
    found, true = (np.asarray(Image.open(folder / f"{path.stem}.png")) for folder in (masks, truth))
    return [picture, coloured(found), coloured(true), overlay(picture, found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("masks", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("out", type=Path, help="the sheet, a PNG")
    parser.add_argument("--count", type=int, default=12, help="pictures on the sheet (default %(default)s)")
    parser.add_argument("--title", default="Shapes through the pipeline")
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.images.iterdir() if path.suffix in (".jpg", ".png"))
    rows = [read_row(path, arguments.masks, arguments.truth) for path in paths[:arguments.count]]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    draw_sheet(rows, arguments.title).save(arguments.out)
    print(arguments.out)


if __name__ == "__main__":
    main()
