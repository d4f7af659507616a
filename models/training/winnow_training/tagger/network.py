"""The tagger's network: convolutions that halve time and pitch five times, then some over steps.

Everything is finite in time: a step's probabilities depend on CONTEXT_STEPS steps to either side
and on nothing else, so a long file may be cut into pieces that overlap by so much.
"""

import torch
from torch import nn
from torch.nn import functional

from winnow_training.tagger.features import MELS

WIDTHS = (16, 32, 96, 160, 224)
"""Channels after each halving. All but the first are followed by a residual block."""
HIDDEN = 256
TEMPORAL = 2
"""Residual convolutions over three steps."""
CONTEXT_STEPS = 7
"""A step depends on so many steps after it, and on one fewer before it."""
DROPOUT = 0.2


class Conv(nn.Module):
    """A 3 x 3 convolution with a batch norm, which an export folds into it.

    With a stride of 2 it pads at the end alone, as TensorFlow's `same` does for even sizes.
    """

    def __init__(self, inputs: int, outputs: int, stride: int = 1):
        super().__init__()
        self.stride = stride
        self.conv = nn.Conv2d(inputs, outputs, 3, stride, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        before = 1 if self.stride == 1 else 0
        return self.norm(self.conv(functional.pad(x, (before, 1, before, 1))))


class Block(nn.Module):
    """Two convolutions and a way past them."""

    def __init__(self, width: int):
        super().__init__()
        self.first, self.second = Conv(width, width), Conv(width, width)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class Steps(nn.Module):
    """A convolution over three steps with a batch norm and a way past it."""

    def __init__(self, width: int):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class Tagger(nn.Module):
    """log-mel [B, frames, MELS] to logits [B, frames / 32, classes]."""

    def __init__(self, classes: int, widths=WIDTHS, hidden=HIDDEN, temporal=TEMPORAL, mels=MELS):
        super().__init__()
        self.config = {
            "widths": list(widths),
            "hidden": hidden,
            "temporal": temporal,
            "mels": mels,
        }
        inputs = (1, *widths[:-1])
        self.halvings = nn.ModuleList(Conv(i, o, stride=2) for i, o in zip(inputs, widths))
        self.blocks = nn.ModuleList(Block(width) for width in widths[1:])
        bands = mels >> len(widths)
        self.gather = nn.Linear(bands * widths[-1], hidden)
        self.steps = nn.ModuleList(Steps(hidden) for _ in range(temporal))
        self.dropout = nn.Dropout(DROPOUT)
        self.classify = nn.Linear(hidden, classes)

    def forward(self, x, taps: dict | None = None):
        """`taps` keeps the result of every stage, by name, in the port's order of axes."""
        x = x[:, None].contiguous(memory_format=torch.channels_last)
        for index, halving in enumerate(self.halvings):
            x = torch.relu(halving(x))
            keep(taps, f"halving.{index}", x)
            if index:
                x = self.blocks[index - 1](x)
                keep(taps, f"block.{index - 1}", x)
        rows = x.permute(0, 2, 3, 1).flatten(2)  # [B, steps, bands * channels], channels fastest
        x = torch.relu(self.gather(rows))
        keep(taps, "gather", x)
        x = x.transpose(1, 2)
        for index, steps in enumerate(self.steps):
            x = steps(x)
            keep(taps, f"steps.{index}", x)
        return self.classify(self.dropout(x.transpose(1, 2)))


def keep(taps: dict | None, name: str, x: torch.Tensor):
    """Images as [B, time, bands, channels], sequences as [B, steps, channels]."""
    if taps is not None:
        taps[name] = x.permute(0, 2, 3, 1) if x.dim() == 4 else x
        if name.startswith("steps"):
            taps[name] = x.transpose(1, 2)
