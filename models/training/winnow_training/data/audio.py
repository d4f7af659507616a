"""Sound as the recipe keeps it: mono at RATE, floating point in the making, int16 in clips."""

import json
from dataclasses import InitVar, dataclass, field
from math import gcd
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import butter, freqz_sos, resample_poly, sosfiltfilt

RATE = 32000
"""Hertz. The network itself takes any rate: its frames are 16 ms long at every rate."""

RECORDINGS = "recordings"
"""Folder of the banks of real recordings in the cache."""

SILENT_PEAK = 1e-4

HIGH_PASS = butter(6, 20, "highpass", fs=RATE, output="sos")
"""Hertz: what lies below is not heard and counts for nothing …"""
EDGE_SAMPLES = RATE // 4
"""… at the ends by the sound that is there, continued for so long. As in high-pass.ts."""


@dataclass
class Clip:
    """One recording, with what is owed to whom for it."""

    sound: InitVar[np.ndarray]
    origin: str
    licence: str
    author: str
    samples: np.ndarray = field(init=False)
    """int16, at a peak of 0.9, as in a bank: while banks are made all clips are in memory."""

    def __post_init__(self, sound):
        peak = np.abs(sound).max()
        if peak < SILENT_PEAK:
            raise ValueError(f"{self.origin} is silent")
        self.samples = (sound / peak * 0.9 * 32767).astype(np.int16)


def shared(counts: dict[str, int], share: float) -> dict[str, int]:
    """Clips of each split: of those to train on `share`, at least one; of the test's all."""
    return {
        split: max(1, round(count * share)) if split == "train" else count
        for split, count in counts.items()
    }


def resample(samples, rate):
    """`samples` at `rate` hertz to RATE."""
    if rate == RATE:
        return np.asarray(samples, np.float32)
    divisor = gcd(RATE, rate)
    return resample_poly(samples, RATE // divisor, rate // divisor).astype(np.float32)


def high_pass(samples):
    """[..., N] without constant offset and rumble, and not shifted in time: all that the network
    reads and that targets are made of."""
    edge = min(samples.shape[-1] - 1, EDGE_SAMPLES)
    return sosfiltfilt(HIGH_PASS, samples, padlen=edge).astype(np.float32)


def high_pass_gains(count):
    """[count // 2 + 1]: what `high_pass` does to the spectrum of `count` samples."""
    response = freqz_sos(HIGH_PASS, np.fft.rfftfreq(count, 1 / RATE), fs=RATE)[1]
    return (np.abs(response) ** 2).astype(np.float32)


def read_mono(path):
    """A sound file's channels averaged, at RATE."""
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return resample(samples.mean(1), rate)


def write_bank(folder: Path, split: str, name: str, clips: list[Clip]):
    """Concatenates clips and notes where each begins and whose it is."""
    offsets, credits = [0], []
    for clip in clips:
        offsets.append(offsets[-1] + len(clip.samples))
        credits.append({"origin": clip.origin, "licence": clip.licence, "author": clip.author})
    np.save(folder / f"{split}-{name}.npy", np.concatenate([clip.samples for clip in clips]))
    notes = {"offsets": offsets, "clips": credits}
    (folder / f"{split}-{name}.json").write_text(json.dumps(notes))
    print(f"{split} {name}: {len(clips)} clips, {offsets[-1] / RATE:.0f} s", flush=True)
