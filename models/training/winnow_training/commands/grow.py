"""A network deeper by a block: `mini-grow CACHE NAME WEIGHTS_FOLDER` writes NAME.pt, from
which `mini-train CACHE NAME` goes on.

The block comes last and at first changes nothing, as all that it adds to its streams is zero
(T. Chen et al., "Net2Net", ICLR 2016; for residual blocks T. Bachlechner et al., "ReZero", 2020).
"""

import argparse
from pathlib import Path

import torch
from torch import nn

from winnow_training.model.checkpoints import read_weights
from winnow_training.model.network import Separator


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
    add_nothing(deeper.conditioned_blocks[-1])
    state = deeper.state_dict() | stored["model"]
    torch.save(stored | dict(model=state, average=state), options.cache / f"{options.name}.pt")


@torch.no_grad()
def add_nothing(block: nn.Module):
    """Zero to what ends a path back into a stream."""
    for layer in (
        block.exchange_to_frame,
        block.exchange_to_band,
        block.frame_layer.time_convolution.convolution,
        block.frame_layer.output,
        block.frame_layer.feed_forward.output,
        block.band_layer.feed_forward.output,
    ):
        layer.weight.zero_()
        layer.bias.zero_()


if __name__ == "__main__":
    main()
