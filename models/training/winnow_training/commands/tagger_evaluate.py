"""Tells how well a tagger knows sounds that are held out: `tagger-evaluate CACHE NAME`, tables.

`--calibrate` first chooses its probabilities and rules, by owners of training clips that were kept
for that; nothing of the test has a part in it.
"""

import argparse
from pathlib import Path

import torch

from winnow_training.tagger.calibration import calibrate
from winnow_training.tagger.cases import Clips, files_of, logits_of
from winnow_training.tagger.checkpoint import load_average, read_calibration, write_calibration
from winnow_training.tagger.tables import class_table, tables

CALIBRATION_SEED, TEST_SEED = 1, 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--by-class", action="store_true", help="a table of classes too")
    parser.add_argument("--share", type=float, default=1.0, help="of the cases, to be quick")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, stored = load_average(options.cache, options.name)
    print(f"step {stored['step']}", flush=True)
    if options.calibrate:
        clips = Clips(options.cache, "calibration", or_made=True)
        cases = files_of(clips, options.share, CALIBRATION_SEED)
        fitted = calibrate(
            cases, {seconds: logits_of(model, part) for seconds, part in cases.items()}
        )
        write_calibration(options.cache, options.name, fitted)
        print(f"rules: {fitted.rules}\ngroups: {fitted.group_rules}", flush=True)
    calibration = read_calibration(options.cache, options.name)
    for label, or_made in (("real recordings", False), ("real recordings or made", True)):
        clips = Clips(options.cache, "test", or_made)
        cases = files_of(clips, options.share, TEST_SEED)
        logits = {seconds: logits_of(model, part) for seconds, part in cases.items()}
        print(f"\n## {label}, {len(clips.names())} classes\n")
        print(tables(calibration, cases, logits), flush=True)
        if options.by_class:
            print(class_table(calibration, cases, logits), flush=True)


if __name__ == "__main__":
    main()
