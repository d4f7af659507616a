"""Measures the effect on a lone sound: `mini-alone CACHE NAME --real FOLDER`.

Every recording and note of FOLDER by itself, asked for by its class's plainest name. The target
should be all of it. By class: how many lose more than LOSS_DB, or are softened by the match, of
the owners that were trained on and of those held out; then which, the worst first.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from winnow_training.data.audio import RATE, high_pass, read_mono
from winnow_training.data.mixtures import MIXTURE_RMS, level
from winnow_training.data.phrasings import OTHER
from winnow_training.data.sources.recordings import choose_held_out, read_recordings
from winnow_training.model.checkpoints import load_average, weights_path
from winnow_training.model.measures import SILENCED_DB, separate
from winnow_training.model.network import WHOLE_FROM, match_of, presence

LOSS_DB = 3
SAMPLES_MIN = RATE // 4
"""Shorter notes are followed by silence."""


@dataclass
class Answer:
    """Answer for one file: how much softer than it the target is, and how sure the network."""

    name: str
    file: str
    is_held_out: bool
    loss: float
    match: float


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    parser.add_argument("--real", type=Path, required=True, help="as mini-prepare takes it")
    options = parser.parse_args()
    model, _ = load_average(weights_path(options.cache, options.name))
    text = np.load(options.cache / "text.npz")
    every = read_recordings(options.real)
    recordings = [one for one in every if one.name != OTHER]  # which has no prompt
    held_out = choose_held_out(recordings)
    answers = []
    for one in recordings:
        prompt = torch.from_numpy(text[f"train/{one.name}"][:1])
        loss, match = alone(model, read_mono(one.path), prompt)
        file = str(one.path.relative_to(options.real))
        answers.append(Answer(one.name, file, one.owner in held_out, loss, match))
    print(report(answers))


@torch.no_grad()
def alone(model, sound, prompt) -> tuple[float, float]:
    """A sound [N] and a prompt's embedding [1, 384] to the loss in dB and the match."""
    padded = np.pad(sound, (0, max(0, SAMPLES_MIN - len(sound))))
    sound = MIXTURE_RMS * level(high_pass(padded))
    mixture = torch.from_numpy(sound)[None]
    target, (_, activity) = separate(model, mixture, prompt)
    match = match_of(activity, target, mixture)
    kept = (presence(match) * target).pow(2).sum() / mixture.pow(2).sum()
    return float(-10 * torch.log10(kept + 1e-12)), float(match)


def report(answers: list[Answer]) -> str:
    """A table by class, trained on and held out side by side, and a line for each that loses."""
    lines = [
        f"| class | n | loss, median, dB | more than {LOSS_DB} dB | softened | silenced |",
        "|---|---|---|---|---|---|",
    ]
    by_class = {}
    for answer in answers:
        by_class.setdefault(answer.name, []).append(answer)
    for name, rows in [*sorted(by_class.items()), ("all", answers)]:
        parts = [[row for row in rows if row.is_held_out == is_held_out] for is_held_out in (0, 1)]
        columns = zip(*(counts(part) for part in parts))
        lines.append(f"| {name} | " + " | ".join(" · ".join(column) for column in columns) + " |")
    lines.append("")
    for row in sorted(answers, key=lambda row: -row.loss):
        if row.loss > LOSS_DB:
            mark = "held out" if row.is_held_out else "trained on"
            lines.append(f"{row.file} ({mark}): -{row.loss:.1f} dB, match {row.match:.2f}")
    return "\n".join(lines)


def counts(rows: list[Answer]) -> list[str]:
    if not rows:
        return ["–"] * 5
    losses = np.array([row.loss for row in rows])
    return [
        str(len(rows)),
        f"{np.median(losses):.1f}",
        str((losses > LOSS_DB).sum()),
        str(sum(row.match < WHOLE_FROM for row in rows)),
        str((losses > -SILENCED_DB).sum()),
    ]


if __name__ == "__main__":
    main()
