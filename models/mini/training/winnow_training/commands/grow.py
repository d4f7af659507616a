"""A network deeper by a block: `python grow.py CACHE NAME WEIGHTS_FOLDER` writes NAME.pt, from
which `train.py CACHE NAME` goes on.

The block comes last and at first changes nothing, as all that it adds to its streams is zero
(T. Chen et al., "Net2Net", ICLR 2016; for residual blocks T. Bachlechner et al., "ReZero", 2020).
"""

import argparse
from pathlib import Path

import torch
from torch import nn

from winnow_training.model.network import Separator
from winnow_training.commands.train import read_weights


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("weights", type=Path)
    options = parser.parse_args()
    torch.manual_seed(0)
    stored = read_weights(options.weights)
    config = stored["config"]
    config["conditioned"] += 1
    deeper = Separator(**config)
    add_nothing(deeper.co[-1])
    state = deeper.state_dict() | stored["model"]
    torch.save(stored | dict(model=state, average=state), options.cache / f"{options.name}.pt")


@torch.no_grad()
def add_nothing(block: nn.Module):
    """Zero to what ends a path back into a stream."""
    for layer in (block.tz, block.up, block.fl.dw.c, block.fl.o, block.fl.f.o, block.bl.f.o):
        layer.weight.zero_()
        layer.bias.zero_()


if __name__ == "__main__":
    main()
