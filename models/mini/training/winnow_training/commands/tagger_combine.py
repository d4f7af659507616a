"""Fits the rule by which a tagger and mini's match decide together: `tagger-combine CACHE NAME`,
after `tagger-evaluate --calibrate` and `tagger-match`. Then tells how good it is, on the test's
owners, who have no part in it."""

import argparse
from pathlib import Path

import torch

from winnow_training.tagger.cases import logits_of
from winnow_training.tagger.checkpoint import load_average, read_calibration, write_calibration
from winnow_training.tagger.combined import asked, combine
from winnow_training.tagger.matches import Matches, cases_of
from winnow_training.tagger.tables import combined_table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, stored = load_average(options.cache, options.name)
    matches = Matches(options.cache)
    calibration = read_calibration(options.cache, options.name)

    def by_length(split: str):
        return {
            seconds: asked(calibration, matches.of(split, seconds), cases, logits_of(model, cases))
            for seconds, cases in cases_of(options.cache, split).items()
        }

    calibration = combine(calibration, list(by_length("calibration").values()))
    write_calibration(options.cache, options.name, calibration)
    print(f"step {stored['step']}: {calibration.combined}\ngroups: {calibration.group_combined}\n")
    print(combined_table(calibration, by_length("test")))


if __name__ == "__main__":
    main()
