"""Computes the log mel powers that the tagger learns from: `tagger-prepare CACHE`, once more with
a larger `--variants` while a training runs, which takes them when it is started again."""

import argparse
from pathlib import Path

import torch

from winnow_training.tagger.clips import sources, write_variant


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path, help="with the banks of mini-prepare")
    parser.add_argument("--variants", type=int, default=5, help="of each clip")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for variant in range(options.variants):
        for source in sources(options.cache, "train"):
            write_variant(options.cache, source, variant)
        print(f"variant {variant} is written", flush=True)


if __name__ == "__main__":
    main()
