"""Spectrograms of good and bad cases, for the model card:
`mini-pictures CACHE NAME FOLDER`. Two that went well and two that did not, each with the
mixture, the target as it is and the target as it was found.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

from winnow_training.data.audio import RATE
from winnow_training.data.cases import test_cases
from winnow_training.model.checkpoints import load_average
from winnow_training.model.measures import measure, separate
from winnow_training.model.network import HOP, stft

PLACES = {"good-1": 0.92, "good-2": 0.75, "bad-1": 0.12, "bad-2": 0.03}
"""Name of the picture to its place among all cases, from the worst at 0 to the best at 1."""
FLOOR_DB = -70


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    model, _ = load_average(options.cache / f"{options.name}.pt")
    cases = [
        case
        for name, part in test_cases(options.cache).items()
        if name != "absent"
        for case in part
    ]
    rows = measure(model, cases)
    order = sorted(range(len(cases)), key=lambda index: rows[index]["si_sdri"])
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, place in PLACES.items():
        index = order[int(place * (len(order) - 1))]
        draw(model, cases[index], rows[index], options.folder / f"{name}.png")


def draw(model, case, row, path: Path):
    mixture = torch.from_numpy(case.mixture)[None]
    estimate, _ = separate(model, mixture, torch.from_numpy(case.embedding)[None])
    waves = {"mixture": mixture[0], "target": torch.from_numpy(case.target), "found": estimate[0]}
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True, layout="constrained")
    top = None
    for axis, (title, wave) in zip(axes, waves.items()):
        power = stft(wave[None], model.window)[0].abs().square().numpy().T
        top = top or power.max()
        picture = 10 * np.log10(power / top + 10 ** (FLOOR_DB / 10))
        extent = (0, power.shape[1] * HOP / RATE, 0, RATE / 2000)
        axis.imshow(picture, origin="lower", aspect="auto", extent=extent, vmin=FLOOR_DB, vmax=0)
        axis.set(title=title, xlabel="seconds")
    axes[0].set_ylabel("kilohertz")
    figure.suptitle(f"“{case.prompt}”: {row['si_sdri']:+.1f} dB")
    figure.savefig(path, dpi=80)
    plt.close(figure)
    print(path.name, case.prompt, row)


if __name__ == "__main__":
    main()
