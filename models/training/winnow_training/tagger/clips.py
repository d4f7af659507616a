"""Clips as the tagger learns from them: log mel powers, computed once and in several variants.

The mel powers of a mixture are about the sum of its sources', so mixtures are made of these without
any sound. What changes speed, room or microphone needs the sound, and is in the variants.
"""

import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.signal
import torch

from winnow_training.data.audio import RECORDINGS
from winnow_training.data.mixtures import PHRASINGS, SPEED, SPEEDS, STEADY, level, read_notes
from winnow_training.data.phrasings import OTHER
from winnow_training.data.rooms import microphone, room
from winnow_training.data.sources.recordings import order
from winnow_training.tagger.features import HOP, MELS, mel_power

CLASSES = list(PHRASINGS["classes"])
"""In the order of the tagger's outputs."""
FOLDER = "tagger"
"""In the cache."""
LEAST = 1e-13
"""Added to stored powers, whose logarithms are then finite in float16."""
CALIBRATION_SHARE = 8
"""One of so many owners of training clips is kept for calibration …"""
OWNERS_MIN = 3
"""… or one, of so many or more …"""
CALIBRATION_MOST = 0.34
"""… unless that is more than this of a class's clips."""
ROOMS, MICROPHONES, BACKWARDS, SPEEDED = 0.35, 0.1, 0.4, 0.75
"""How often a variant has been in a room, and so on."""


@dataclass(frozen=True)
class Source:
    """A class's clips of one kind: the recipe's own, or real recordings."""

    name: str
    is_recorded: bool
    split: str

    @property
    def key(self) -> str:
        return f"{self.split}-{'recorded' if self.is_recorded else 'made'}-{self.name}"

    def bank(self, cache: Path) -> Path:
        return cache / RECORDINGS if self.is_recorded else cache


def sources(cache: Path, split: str) -> list[Source]:
    """All banks of a split that the cache has."""
    candidates = [Source(name, real, split) for name in [*CLASSES, OTHER] for real in (False, True)]
    return [
        source
        for source in candidates
        if (source.bank(cache) / f"{split}-{source.name}.json").exists()
    ]


def write_variant(cache: Path, source: Source, variant: int) -> None:
    """Writes the clips' log mel powers; variant 0 has them as they are, others have been varied."""
    path = cache / FOLDER / f"{source.key}-{variant}.npy"
    if path.exists():
        return
    notes = read_notes(source.bank(cache), source.split, source.name)
    samples = np.load(source.bank(cache) / f"{source.split}-{source.name}.npy", mmap_mode="r")
    rng = np.random.default_rng([*f"{source.key} {variant}".encode()])
    parts = []
    for start, end in zip(notes["offsets"], notes["offsets"][1:]):
        sound = level(samples[start:end].astype(np.float32) / 32768)
        parts.append(stored_power(level(varied(sound, source.name, rng)) if variant else sound))
    offsets = np.cumsum([0, *map(len, parts)]).tolist()
    path.parent.mkdir(exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps(offsets))
    part = path.with_suffix(".part.npy")
    np.save(part, np.concatenate(parts))
    part.rename(path)


def stored_power(sound: np.ndarray) -> np.ndarray:
    """[frames, MELS] float16."""
    frames = math.ceil(len(sound) / HOP)
    padded = np.pad(sound, (0, frames * HOP - len(sound)))
    return torch.log(mel_power(torch.from_numpy(padded)) + LEAST).half().numpy()


def varied(sound: np.ndarray, name: str, rng: np.random.Generator) -> np.ndarray:
    """The clip at another speed, in another room, by another microphone, or backwards."""
    if rng.random() < SPEEDED:
        reach = SPEEDS.get(name, SPEED)
        speed = math.exp(rng.uniform(-reach, reach))
        places = np.arange(0, len(sound) - 1, speed)
        sound = np.interp(places, np.arange(len(sound)), sound).astype(np.float32)
    if name in STEADY and rng.random() < BACKWARDS:
        sound = sound[::-1].copy()
    if rng.random() < ROOMS:
        sound = scipy.signal.oaconvolve(sound, room(rng))[: len(sound)].astype(np.float32)
    if rng.random() < MICROPHONES:
        sound = microphone(rng, sound)
    return sound


def calibration_owners(clips: dict[str, list[str]]) -> set[str]:
    """Owners who are kept for calibration in all classes that they have clips of, of each class's
    clips' origins: one of CALIBRATION_SHARE owners, but never most of a class."""
    counts = {
        key: Counter(part for origin in origins for part in origin.split("; "))
        for key, origins in clips.items()
    }
    shares: dict[str, float] = {}
    for key, by_owner in counts.items():
        for owner, count in by_owner.items():
            shares[owner] = max(shares.get(owner, 0), count / len(clips[key]))
    chosen: set[str] = set()
    for _, by_owner in sorted(counts.items()):
        places = len(by_owner) // CALIBRATION_SHARE or int(len(by_owner) >= OWNERS_MIN)
        taken = sum(count for owner, count in by_owner.items() if owner in chosen)
        for owner in sorted(by_owner, key=order):
            if len(chosen & by_owner.keys()) >= places:
                break
            is_much = taken + by_owner[owner] > CALIBRATION_MOST * by_owner.total()
            if shares[owner] <= CALIBRATION_MOST and not is_much:
                chosen.add(owner)
                taken += by_owner[owner]
    return chosen


def for_calibration(origins: list[str], owners: set[str]) -> np.ndarray:
    """[clips] bool: those of which one of `owners` has a part.

    Clips of a class that one owner has alone are divided among themselves, so they tell less.
    """
    if len(set(origins)) == 1:
        return np.arange(len(origins)) % CALIBRATION_SHARE == CALIBRATION_SHARE - 1
    return np.array([not owners.isdisjoint(origin.split("; ")) for origin in origins])


def origins_of(cache: Path, source: Source) -> list[str]:
    """Whence each clip of a bank is: its owner, or owners joined by semicolons."""
    clips = read_notes(source.bank(cache), source.split, source.name)["clips"]
    return [clip["origin"] for clip in clips]


@dataclass
class Entry:
    """A clip by its place in each variant's powers."""

    owner: str
    spans: list[tuple[int, int]]


class Store:
    """The clips to train on, by class; `calibration` takes those that are kept for it instead."""

    def __init__(self, cache: Path, split: str = "train", calibration: bool = False):
        self.powers: dict[str, list[np.ndarray]] = {}
        self.entries: dict[str, list[Entry]] = {}
        self.sources = {}
        banks = sources(cache, split)
        origins = {one.key: origins_of(cache, one) for one in banks}
        owners = calibration_owners(origins)
        for source in banks:
            kept = for_calibration(origins[source.key], owners)
            self._add(cache, source, origins[source.key], kept == calibration)

    def _add(self, cache: Path, source: Source, origins: list[str], is_taken: np.ndarray):
        paths = sorted((cache / FOLDER).glob(f"{source.key}-[0-9].npy"))
        if not paths:
            return
        offsets = [json.loads(path.with_suffix(".json").read_text()) for path in paths]
        entries = [
            Entry(origin, [(part[index], part[index + 1]) for part in offsets])
            for index, origin in enumerate(origins)
            if is_taken[index]
        ]
        if entries:
            self.powers[source.key] = [np.load(path, mmap_mode="r") for path in paths]
            self.entries[source.key] = entries
            self.sources[source.name, source.is_recorded] = source.key

    def names(self) -> list[str]:
        return [
            name
            for name in CLASSES
            if (name, False) in self.sources or (name, True) in self.sources
        ]

    def power(self, key: str, entry: Entry, variant: int) -> np.ndarray:
        """[frames, MELS] log powers."""
        start, end = entry.spans[variant]
        return self.powers[key][variant][start:end]


def silence(frames: int) -> np.ndarray:
    return np.full((frames, MELS), math.log(LEAST), np.float32)
