"""Sound as the recipe keeps it: mono float32 at RATE in the making, int16 in banks on disk."""

import json
from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

RATE = 32000
"""Hertz. The network itself takes any rate: its frames are 16 ms long at every rate."""

SILENT_PEAK = 1e-4


@dataclass
class Clip:
    """One recording, with what is owed to whom for it."""

    samples: np.ndarray
    origin: str
    licence: str
    author: str


def resample(samples, rate):
    """`samples` at `rate` hertz to RATE."""
    if rate == RATE:
        return np.asarray(samples, np.float32)
    divisor = gcd(RATE, rate)
    return resample_poly(samples, RATE // divisor, rate // divisor).astype(np.float32)


def read_mono(path):
    """A sound file's channels averaged, at RATE."""
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return resample(samples.mean(1), rate)


def write_bank(folder: Path, split: str, name: str, clips: list[Clip]):
    """Concatenates clips, each at a peak of 0.9, and notes where each begins and whose it is."""
    pieces, offsets, kept = [], [0], []
    for clip in clips:
        peak = np.abs(clip.samples).max()
        if peak < SILENT_PEAK:
            raise ValueError(f"{split} {name}: {clip.origin} is silent")
        pieces.append((clip.samples / peak * 0.9 * 32767).astype(np.int16))
        offsets.append(offsets[-1] + len(pieces[-1]))
        kept.append({"origin": clip.origin, "licence": clip.licence, "author": clip.author})
    np.save(folder / f"{split}-{name}.npy", np.concatenate(pieces))
    notes = {"offsets": offsets, "clips": kept}
    (folder / f"{split}-{name}.json").write_text(json.dumps(notes))
    print(f"{split} {name}: {len(pieces)} clips, {offsets[-1] / RATE:.0f} s", flush=True)
