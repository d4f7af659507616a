"""Compares other choices of the gate by the match: `mini-presence CACHE NAME`, a table.

Chosen by real recordings of the recipe's training split; `--split test` reports on the speakers and
instruments that are held out.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from winnow_training.data.cases import recorded_cases
from winnow_training.model.checkpoints import load_average, weights_path
from winnow_training.model.measures import SILENCED_DB, sdr, separate
from winnow_training.model.network import match_of, presence_gain

RANGES = ((0.1, 0.2), (0.15, 0.25), (0.2, 0.4))
"""Ranges of the match: softened until the first, whole from the second."""
DECIBELS = (0, -12, -18, -22, -26, -28, -30, -40, -200)
"""Gains of the softest target; the last is silence."""
HARDLY_HEARD_DB = -30


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    parser.add_argument("--split", choices=["test", "train"], default="train")
    options = parser.parse_args()
    model, _ = load_average(weights_path(options.cache, options.name))
    cases = [
        case for part in recorded_cases(options.cache, options.split).values() for case in part
    ]
    found = [separated(model, case) for case in cases]
    print("| match | softest | present: silenced, hardly heard | SDRi | absent (quartiles) |")
    print("|---|---|---|---|---|")
    for low, high in RANGES:
        for decibels in DECIBELS:
            print(row(found, low, high, 10 ** (decibels / 20), decibels))


@torch.no_grad()
def separated(model, case):
    """The case, what was found of it, ungated, and the match."""
    mixture, embedding = (torch.from_numpy(part)[None] for part in (case.mixture, case.embedding))
    target, (_, activity) = separate(model, mixture, embedding)
    return case, target[0].numpy(), match_of(activity, target, mixture)[0]


def row(found, low, high, softest, decibels) -> str:
    levels, gains, leaks = [], [], []
    for case, target, match in found:
        estimate = float(presence_gain(match, low, high, softest)) * target
        level = 10 * np.log10((estimate**2).sum() / (case.mixture**2).sum() + 1e-12)
        if case.target is None:
            leaks.append(level)
        else:
            levels.append(level)
            gains.append(sdr(estimate, case.target) - sdr(case.mixture, case.target))
    levels, leak = np.array(levels), np.percentile(leaks, (25, 50, 75))
    return (
        f"| {low} to {high} | {decibels} dB | {(levels < SILENCED_DB).sum()}, "
        f"{(levels < HARDLY_HEARD_DB).sum()} of {len(levels)} | {np.mean(gains):.2f} "
        f"| {leak[1]:.1f} ({leak[0]:.1f} to {leak[2]:.1f}) |"
    )


if __name__ == "__main__":
    main()
