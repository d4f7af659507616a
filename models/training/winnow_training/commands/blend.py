"""The mean of a checkpoint's averaged weights and of those that it began with:
`mini-blend CACHE NAME BEFORE` writes NAME-blend.pt. BEFORE is a folder of served weights, or
a checkpoint's name.

Trained on for a while, weights gain in some places and lose in others; half-way between before and
after most of both is kept (M. Wortsman et al., "Robust fine-tuning of zero-shot models", 2022).
"""

import argparse
from pathlib import Path

import torch

from winnow_training.model.checkpoints import read_weights, rename


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("before")
    options = parser.parse_args()
    stored = torch.load(options.cache / f"{options.name}.pt", "cpu")
    began = options.cache / f"{options.before}.pt"
    before = torch.load(began) if began.exists() else read_weights(Path(options.before))
    average = stored["average"]
    before = rename(before, {name: average[f"name_logits.{name}"] for name in ("weight", "bias")})
    for name, tensor in average.items():
        tensor.lerp_(before["average"][name], 0.5)
    torch.save(stored, options.cache / f"{options.name}-blend.pt")


if __name__ == "__main__":
    main()
