"""Writes weights of torchvision's deeplabv3_resnet50 and what it computes with them into the folder of argv[1].

weights.pth, weights.safetensors; for each size HxW input_HxW.bin and logits_HxW.bin: float32, batch of 2.
"""
import collections
import json
import struct
import sys
from pathlib import Path

import torch
from torchvision.models.segmentation import deeplabv3_resnet50

SIZES = ((65, 97), (64, 64))
DTYPES = {torch.float32: "F32", torch.int64: "I64"}


def write_safetensors(state, path):
    header, data = {}, bytearray()
    for name, tensor in state.items():
        start = len(data)
        data += tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@torch.no_grad()
def make_model(example):
    """Every parameter and buffer differs from its default, and the logits have a spread of about 1."""
    model = deeplabv3_resnet50(weights=None, weights_backbone=None, aux_loss=True, num_classes=21).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.weight.uniform_(0.5, 1)
            module.bias.normal_(0, 0.1)
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.7, 1.5)
            module.num_batches_tracked.fill_(3)
    last = model.classifier[4]
    last.bias.normal_()
    last.weight /= (model(example)["out"] - last.bias.view(1, -1, 1, 1)).std()
    return model


def main():
    out = Path(sys.argv[1])
    torch.manual_seed(5)
    inputs = [torch.randn(2, 3, *size) for size in SIZES]
    model = make_model(inputs[0])
    state = model.state_dict()
    torch.save(state, out / "weights.pth")
    write_safetensors(collections.OrderedDict(state), out / "weights.safetensors")
    for (height, width), images in zip(SIZES, inputs):
        with torch.no_grad():
            logits = model(images)["out"]
        images.numpy().tofile(out / f"input_{height}x{width}.bin")
        logits.numpy().tofile(out / f"logits_{height}x{width}.bin")


main()
