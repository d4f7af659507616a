"""Computes the tagger's input: a log-mel spectrogram at 32 kHz. Nothing is normalised over a file.

A frame is centred on every hop of HOP samples, so a step, the half second that the tagger answers
for, is STEP_FRAMES frames. Levels are absolute: a sine at full scale has a power of 1/4.
"""

import math
from functools import lru_cache

import numpy as np
import torch

from winnow_training.data.audio import RATE

WINDOW, HOP = 1024, 500
"""Samples: bins of 31.25 Hz, 64 frames a second."""
STEP_FRAMES = 32
STEP_SAMPLES = STEP_FRAMES * HOP
"""A step is half a second."""
MELS = 64
LOWEST, HIGHEST = 50.0, 16000.0
"""Hertz: where the first band begins and the last one ends."""
FLOOR = 1e-9
"""Added to every band's power, so that silence is -90 dB and not nothing."""
CENTRE, SCALE = -10.0, 5.0
"""The logarithm's rough mean and spread over sounds of all levels."""
EDGE = (WINDOW - HOP) // 2
"""Samples that a piece needs beyond each of its ends."""


@lru_cache
def mel_matrix() -> np.ndarray:
    """[WINDOW // 2 + 1, MELS] float32: triangles with a peak of 1, evenly spaced in mels."""
    hertz = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    low, high = mels_of(LOWEST), mels_of(HIGHEST)
    corners = hertz_of(np.linspace(low, high, MELS + 2))
    rising = (hertz[:, None] - corners[:-2]) / (corners[1:-1] - corners[:-2])
    falling = (corners[2:] - hertz[:, None]) / (corners[2:] - corners[1:-1])
    return np.maximum(0, np.minimum(rising, falling)).astype(np.float32)


def mels_of(hertz):
    return 2595 * np.log10(1 + hertz / 700)


def hertz_of(mels):
    return 700 * (10 ** (mels / 2595) - 1)


@lru_cache
def hann() -> torch.Tensor:
    """[WINDOW], periodic, divided by its sum."""
    window = torch.hann_window(WINDOW, dtype=torch.float64)
    return (window / window.sum()).float()


def mel_power(samples: torch.Tensor) -> torch.Tensor:
    """[..., steps * STEP_SAMPLES] to [..., frames, MELS], with silence beyond both ends."""
    padded = torch.nn.functional.pad(samples, (EDGE, EDGE))
    spectrum = torch.fft.rfft(padded.unfold(-1, WINDOW, HOP) * hann())
    return (spectrum.real**2 + spectrum.imag**2) @ torch.from_numpy(mel_matrix())


def log_mel(power: torch.Tensor) -> torch.Tensor:
    """The network's input, of `mel_power`."""
    return (torch.log(power + FLOOR) - CENTRE) / SCALE


def steps_of(samples: int) -> int:
    """How many steps a file of so many samples has: the last may be short."""
    return max(1, math.ceil(samples / STEP_SAMPLES))
