"""Asks mini for sounds that are in files of held-out clips and for others: `tagger-match CACHE`,
once for all taggers; given again, it goes on. `tagger-combine` then fits a rule for both."""

import argparse
from pathlib import Path

import torch

from winnow_training.model.checkpoints import load_average
from winnow_training.model.text_encoder import load_encoder
from winnow_training.tagger.matches import SEEDS, Matches, cases_of

SERVED = Path(__file__).resolve().parents[3] / "mini" / "weights"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--weights", type=Path, default=SERVED, help="of mini")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, _ = load_average(options.weights)
    cases = {split: cases_of(options.cache, split) for split in SEEDS}
    Matches(options.cache).add(model, load_encoder(), cases)


if __name__ == "__main__":
    main()
