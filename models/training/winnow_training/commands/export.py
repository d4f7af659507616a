"""Writes what the engine serves, and what a lane with it is tested against:
`mini-export CACHE NAME WEIGHTS_FOLDER GOLDEN_FOLDER`.

The weights are the averaged ones, rounded to float16, and the golden tensors are computed with the
rounded weights in float32, so that the port can be held to them.
"""

import argparse
from pathlib import Path

import torch

from winnow_training.model.checkpoints import load_average
from winnow_training.model.export import (
    GOLDEN_PROMPT,
    golden_lane,
    golden_stereo,
    save,
    write_weights,
)
from winnow_training.model.text_encoder import load_encoder


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("weights", type=Path)
    parser.add_argument("golden", type=Path)
    options = parser.parse_args()
    model, stored = load_average(options.cache / f"{options.name}.pt")
    embedding = torch.from_numpy(load_encoder()([GOLDEN_PROMPT]))
    write_weights(model, stored, options.weights)
    save(golden_lane(model, embedding), options.golden / "lane.safetensors")
    save(golden_stereo(model, embedding), options.golden / "stereo.safetensors")


if __name__ == "__main__":
    main()
