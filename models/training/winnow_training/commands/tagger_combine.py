"""Fits the rule by which a tagger and mini's match decide together: `tagger-combine CACHE NAME`,
after `tagger-evaluate --calibrate` and `tagger-match`. Then tells how good it is, on the test's
owners, who have no part in it."""

import argparse
from pathlib import Path

import torch

from winnow_training.tagger.cases import logits_of
from winnow_training.tagger.checkpoint import load_average, read_calibration, write_calibration
from winnow_training.tagger.combined import asked, combine, with_listed
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
        """Length to its files, what the tagger makes of them, and what they were asked for."""
        made = {}
        for seconds, cases in cases_of(options.cache, split).items():
            logits = logits_of(model, cases)
            rows = matches.of(split, seconds)
            made[seconds] = cases, logits, asked(calibration, rows, cases, logits)
        return made

    cases, logits, both = zip(*by_length("calibration").values())
    calibration = combine(calibration, list(both))
    calibration = with_listed(calibration, sum(cases, []), sum(logits, []))
    write_calibration(options.cache, options.name, calibration)
    print(f"step {stored['step']}: {calibration.combined}\ngroups: {calibration.group_combined}\n")
    tested = {seconds: both for seconds, (*_, both) in by_length("test").items()}
    print(combined_table(calibration, tested))


if __name__ == "__main__":
    main()
