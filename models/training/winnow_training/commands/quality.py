"""Tells which numbers know how good a target is: `mini-quality CACHE NAME`, tables.

Two real recordings at -12 to +12 dB, by owners that are kept for the tagger's calibration, on which
what is combined is fitted, and of the test. Both are asked for.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from scipy.stats import pearsonr, spearmanr

from winnow_training.data.audio import RATE, high_pass
from winnow_training.data.mixtures import MIXTURE_RMS, WORDS, decibels
from winnow_training.model.checkpoints import load_average, weights_path
from winnow_training.model.measures import one_pass, si_sdr
from winnow_training.model.network import istft, match_of, stft
from winnow_training.model.quality import features_of
from winnow_training.model.text_encoder import ENCODER, load_encoder
from winnow_training.tagger.cases import Clips
from winnow_training.tagger.scenes import ALIKE, PLACE

FILES, SECONDS, SEED = 110, 5, 77
REACH_DB = 12.0
WORST_DB, BEST_DB = -20.0, 30.0
"""What is worse or better counts as this."""
COMBINED = (
    ("expected SDR", "match"),
    ("expected SDR", "target's share, dB", "match"),
    ("entropy of the mask", "target's share, dB", "match"),
    ("match", "activity", "correlation with the residual", "change in time"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, _ = load_average(weights_path(options.cache, options.name))
    embed = load_encoder(ENCODER)
    rows = {
        split: measured(model, embed, Clips(options.cache, split, split == "calibration"), split)
        for split in ("calibration", "test")
    }
    print(table(*rows.values()))


def measured(model, embed, clips: Clips, split: str) -> list[tuple[dict[str, float], float]]:
    """Features and SI-SDR in dB of both sounds of every file."""
    names = clips.names()
    embeddings = dict(zip(names, embed([WORDS[name]["train"][0] for name in names])))
    rows = []
    for number in range(FILES):
        rng = np.random.default_rng([SEED, number, split == "test"])
        first = names[number % len(names)]
        others = [name for name in names if name != first and not alike(first, name)]
        pair = [first, str(rng.choice(others))]
        gain = rng.uniform(-REACH_DB, REACH_DB) / 2
        tracks = [
            high_pass(clips.track(name, rng, SECONDS * RATE, False) * np.float32(decibels(level)))
            for name, level in zip(pair, (gain, -gain))
        ]
        asked = np.stack([embeddings[name] for name in pair])
        rows += of_file(model, tracks, torch.from_numpy(asked))
    return rows


def alike(one: str, other: str) -> bool:
    return bool(ALIKE[PLACE[one], PLACE[other]])


@torch.no_grad()
def of_file(model, tracks: list[np.ndarray], embeddings: torch.Tensor):
    total = np.sum(tracks, 0)
    scale = MIXTURE_RMS / np.sqrt((total**2).mean())
    mixture = torch.from_numpy((total * scale).astype(np.float32))[None]
    masks, activity = one_pass(model, mixture, embeddings, 1, gives_mask=True)
    spectra = stft(mixture, model.window)
    targets = istft(spectra * masks, model.window, mixture.shape[1])
    matches = torch.logit(match_of(activity.double(), targets, mixture.expand_as(targets)))
    for track, target, mask, heard, match in zip(tracks, targets, masks, activity, matches):
        quality = float(np.clip(si_sdr(target.numpy(), track * scale), WORST_DB, BEST_DB))
        yield features_of(mask, spectra[0].abs() ** 2, heard, float(match.clamp(-30, 30))), quality


def table(fitted, tested) -> str:
    """Correlations by feature, and of least squares of several that are fitted on `fitted`."""
    lines = ["| | Pearson | Spearman | in calibration |", "|---|---|---|---|"]
    truths = [np.array([quality for _, quality in rows]) for rows in (fitted, tested)]
    for names in [*((name,) for name in fitted[0][0]), *COMBINED]:
        columns = [
            np.array([[*(features[name] for name in names), 1] for features, _ in rows])
            for rows in (fitted, tested)
        ]
        weights = np.linalg.lstsq(columns[0], truths[0], rcond=None)[0]
        known, new = (part @ weights for part in columns)
        lines.append(
            f"| {' + '.join(names)} | {pearsonr(new, truths[1])[0]:.2f} "
            f"| {spearmanr(new, truths[1])[0]:.2f} | {pearsonr(known, truths[0])[0]:.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
