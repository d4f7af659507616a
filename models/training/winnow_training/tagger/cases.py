"""Files to calibrate and to test on: mixtures of sounds, not of powers, of clips held out.

Two classes in a file of five seconds or a minute, about as loud as each other. What is asked is
what is there; what is not and unlike what is (unrelated), and what is not and of the same family
(related). Confusable classes are not asked for.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from winnow_training.data.audio import RATE
from winnow_training.data.mixtures import decibels, level, read_notes
from winnow_training.data.phrasings import OTHER
from winnow_training.tagger.clips import (
    CLASSES,
    Source,
    calibration_owners,
    for_calibration,
    origins_of,
    sources,
)
from winnow_training.tagger.features import STEP_SAMPLES, log_mel, mel_power, steps_of
from winnow_training.tagger.scenes import ALIKE, FAMILIES, PLACE, label

PART_SAMPLES = 5 * RATE
LONG_SECONDS = 8
REACH_DB = 5.0
LEVELS_DB = (-40.0, -15.0)


FILES = {5: 500, 20: 120, 60: 100}
"""How many files of so many seconds."""


def related_matrix() -> np.ndarray:
    """[classes, classes] bool: of one family and not confusable."""
    matrix = np.zeros((len(CLASSES), len(CLASSES)), bool)
    for family in FAMILIES:
        places = [PLACE[name] for name in family]
        matrix[np.ix_(places, places)] = True
    np.fill_diagonal(matrix, False)
    return matrix & (ALIKE == 0)


RELATED = related_matrix()
RELATIVES = [np.flatnonzero(row).tolist() for row in RELATED]


@dataclass
class Case:
    """A file and what is true of it."""

    samples: np.ndarray
    present: list[int]
    labels: np.ndarray
    """[steps, classes]"""
    weights: np.ndarray

    def unrelated(self) -> np.ndarray:
        """[classes] bool."""
        near = RELATED[self.present].any(0) | (ALIKE[self.present] > 0).any(0)
        near[self.present] = True
        return ~near

    def related(self) -> np.ndarray:
        """[classes] bool."""
        alike = (ALIKE[self.present] > 0).any(0)
        alike[self.present] = True
        return RELATED[self.present].any(0) & ~alike


@dataclass
class OwnedClip:
    """A clip, int16."""

    owner: str
    samples: np.ndarray

    def cut(self, rng, length: int) -> np.ndarray:
        """Returns the loudest of some stretches of it, at most `length` samples, RMS 1."""
        room = len(self.samples) - length
        starts = rng.integers(0, room, 3) if room > 0 else [0]
        cuts = [self.samples[at : at + length].astype(np.float32) for at in starts]
        return level(max(cuts, key=lambda cut: float((cut**2).sum())) / 32768)


class Clips:
    """Sounds by class: of the test, or of the owners kept for calibration. Real recordings; with
    `or_made` also what the recipe makes (and ESC-10), of classes that have no others."""

    def __init__(self, cache: Path, split: str, or_made: bool = False):
        self.cache = cache
        self.clips: dict[str, list[OwnedClip]] = {}
        banks = sources(cache, "test" if split == "test" else "train")
        origins = {source.key: origins_of(cache, source) for source in banks}
        owners = calibration_owners(origins) if split == "calibration" else set()
        for source in sorted(banks, key=lambda source: not source.is_recorded):
            if (
                source.name in self.clips
                or source.name == OTHER
                or not (source.is_recorded or or_made)
            ):
                continue
            kept = for_calibration(origins[source.key], owners)
            kept = kept if split == "calibration" else np.ones(len(kept), bool)
            self._add(source, origins[source.key], kept)

    def _add(self, source: Source, origins: list[str], kept: np.ndarray):
        folder = source.bank(self.cache)
        offsets = read_notes(folder, source.split, source.name)["offsets"]
        samples = np.load(folder / f"{source.split}-{source.name}.npy", mmap_mode="r")
        clips = [
            OwnedClip(origin, samples[start:end])
            for start, end, origin, is_kept in zip(offsets, offsets[1:], origins, kept)
            if is_kept
        ]
        if clips:
            self.clips[source.name] = clips

    def names(self) -> list[str]:
        return [name for name in CLASSES if name in self.clips]

    def track(self, name: str, rng, length: int, is_long: bool) -> np.ndarray:
        """[length]: one clip anywhere; in a long file several of its owner, with pauses."""
        clips = self.clips[name]
        first = clips[rng.integers(len(clips))]
        clips = [clip for clip in clips if clip.owner == first.owner]
        made = np.zeros(length, np.float32)
        if not is_long:
            cut = first.cut(rng, length)
            at = int(rng.integers(0, length - len(cut) + 1))
            made[at : at + len(cut)] = cut
            return made
        at = int(rng.uniform(0, 0.3) * length)
        until = at + int(rng.uniform(0.15, 1) * (length - at))
        while at < until:
            cut = clips[rng.integers(len(clips))].cut(rng, PART_SAMPLES)[: length - at]
            made[at : at + len(cut)] = cut
            at += len(cut) + int(rng.exponential(1.0) * RATE)
        return made


def make_case(clips: Clips, rng, names: list[str], seconds: float) -> Case:
    length = steps_of(round(seconds * RATE)) * STEP_SAMPLES
    tracks = [
        clips.track(name, rng, length, seconds > LONG_SECONDS)
        * decibels(rng.uniform(-1, 1) * REACH_DB / 2)
        for name in names
    ]
    total = np.sum(tracks, 0)
    scale = decibels(rng.uniform(*LEVELS_DB)) / max(float(np.sqrt((total**2).mean())), 1e-6)
    powers = [
        mel_power(torch.from_numpy((track * scale).astype(np.float32))).numpy() for track in tracks
    ]
    labels, weights = label(names, powers, np.sum(powers, 0))
    samples = (total * scale).astype(np.float32)
    return Case(samples, [PLACE[name] for name in names], labels, weights)


def make_cases(clips: Clips, count: int, seconds: float, seed: int) -> list[Case]:
    """Every class in turn, with another that is not confusable with it."""
    rng = np.random.default_rng(seed)
    names, cases = clips.names(), []
    for number in range(count):
        name = names[number % len(names)]
        alike = ALIKE[PLACE[name]]
        others = [other for other in names if other != name and not alike[PLACE[other]]]
        cases.append(make_case(clips, rng, [name, str(rng.choice(others))], seconds))
    return cases


def files_of(clips: Clips, share: float, seed: int) -> dict[int, list[Case]]:
    """Length in seconds to its files of two sounds."""
    return {
        seconds: make_cases(clips, max(1, round(share * count)), seconds, seed + number)
        for number, (seconds, count) in enumerate(FILES.items())
    }


@torch.no_grad()
def logits_of(model, cases: list[Case]) -> list[np.ndarray]:
    """[steps, classes] of each."""
    model.eval()
    logits = []
    for case in cases:
        features = log_mel(mel_power(torch.from_numpy(case.samples)))
        logits.append(model(features[None])[0].numpy())
    return logits
