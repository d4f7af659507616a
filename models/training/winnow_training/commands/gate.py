"""Sets how the activity closes the mask: `mini-gate CACHE NAME`.

Training leaves the strength at 1 and the tolerance, how improbable a sound must be, at 0. Here that
pair is chosen which lets least of absent sounds through and costs present ones next to nothing, on
clips that were trained on and phrasings that were not; among equals the strongest, for the pauses.
"""

import argparse
import itertools
import math
from pathlib import Path

import numpy as np
import torch

from winnow_training.data.cases import test_cases
from winnow_training.model.checkpoints import load_average
from winnow_training.model.measures import measure

STRENGTHS = (1.0, 2.0, 3.0, 5.0, 8.0)
TOLERANCES = (0.0, 1.0, 2.0, 3.0)
LOSS_DB_MAX = 0.02
LEAKS = 75
"""A percentile: the median is silence, by `presence`."""
BATCH = 12
PRESENT_EVERY = 6
"""Takes every sixth case whose sound is there, and all others: a percentile takes many."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    options = parser.parse_args()
    path = options.cache / f"{options.name}.pt"
    model, stored = load_average(path)
    cases = test_cases(options.cache, "train")
    chosen = cases.pop("absent")
    chosen += [case for part in cases.values() for case in part[::PRESENT_EVERY]]
    model.open = once(model.open, math.ceil(len(chosen) / BATCH))
    results = []
    for tolerance in TOLERANCES:
        for strength in STRENGTHS:
            model.closing_strength.data.fill_(strength)
            model.closing_tolerance.fill_(tolerance)
            rows = measure(model, chosen, size=BATCH)
            gain = np.mean([row["si_sdri"] for row in rows if "si_sdri" in row])
            leak = np.percentile([row["leak"] for row in rows if "leak" in row], LEAKS)
            results.append((leak, gain, strength, tolerance))
            print(
                f"strength {strength}, tolerance {tolerance}: {gain:.2f} dB, absent {leak:.1f} dB",
                flush=True,
            )
    best = max(gain for _, gain, _, _ in results)
    cheap = [row for row in results if row[1] > best - LOSS_DB_MAX]
    _, _, strength, tolerance = min(cheap, key=lambda row: (row[0], -row[2]))
    print(f"chosen: strength {strength}, tolerance {tolerance}")
    stored["average"]["closing_strength"].fill_(strength)
    stored["average"]["closing_tolerance"].fill_(tolerance)
    torch.save(stored, path)


def once(run, calls: int):
    """`run` whose first `calls` results are repeated in turn: each pair has the same inputs."""
    results, turns = [], itertools.count()

    def repeat(*inputs):
        turn = next(turns)
        if turn < calls:
            results.append(run(*inputs))
        return results[turn % calls]

    return repeat


if __name__ == "__main__":
    main()
