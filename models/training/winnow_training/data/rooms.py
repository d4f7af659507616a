"""Rooms and microphones: what lies between a sound and its recording, made up at random."""

import numpy as np
from scipy import signal as filters

from winnow_training.data.audio import RATE

SPEED = 343.0  # of sound, metres a second
SECONDS_MAX = 0.5
ORDER_MAX = 4  # reflections off a pair of walls that are traced; later ones are noise


def room(rng: np.random.Generator) -> np.ndarray:
    """An impulse response at 32 kHz: direct path first with gain 1, at most 0.5 s, float32.

    Early reflections by the image method in a shoebox (Allen and Berkley, 1979), then decaying
    noise of the density and level that the same room has by its volume and T60 (0.1 to 0.8 s).
    """
    size = np.array([rng.uniform(2, 9), rng.uniform(2, 7), rng.uniform(2.2, 4)])
    t60 = rng.uniform(0.1, 0.8)
    ear, way = size * rng.uniform(0.15, 0.85, 3), rng.standard_normal(3)
    reach = 0.3 * 10 ** rng.uniform(0, 1)  # metres; as often under 1 m as over
    source = np.clip(ear + reach * way / np.linalg.norm(way), 0.1 * size, 0.9 * size)
    direct = np.linalg.norm(ear - source)
    count = round(min(SECONDS_MAX, t60) * RATE)
    response = early_reflections(rng, size, ear, source, t60)[:count]
    response = np.pad(response, (0, count - len(response)))
    since = np.arange(count) / RATE + direct / SPEED
    mixing = 2 * np.cbrt(np.prod(size)) / SPEED  # about when echoes are too dense to count
    density = 4 * np.pi * SPEED * direct**2 / (np.prod(size) * RATE)
    tail = rng.standard_normal(count) * np.sqrt(density) * 10 ** (-3 * since / t60)
    response += tail * np.clip(since / mixing - 0.5, 0, 1)
    dull = np.exp(-2 * np.pi * rng.uniform(3000, 9000) / RATE)
    response[1:] = filters.lfilter([1 - dull], [1, -dull], response)[1:]
    response *= np.minimum(1, np.arange(count, 0, -1) / (0.1 * count))
    response[0] = 1
    return response.astype(np.float32)


def early_reflections(
    rng: np.random.Generator, size: np.ndarray, ear: np.ndarray, source: np.ndarray, t60: float
) -> np.ndarray:
    """Gains of the mirror images by arrival after the direct path, whose gain would be 1."""
    area = 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0])
    mean_loss = 1 - np.exp(-0.161 * np.prod(size) / (area * t60))  # Eyring
    walls = np.sqrt(1 - np.clip(mean_loss * rng.uniform(0.7, 1.3, 3), 0, 0.98))
    mirrors = np.arange(-ORDER_MAX, ORDER_MAX + 1)
    squares, gains = np.zeros(1), np.ones(1)
    for axis in range(3):
        even = mirrors % 2 == 0
        images = mirrors * size[axis] + np.where(even, source[axis], size[axis] - source[axis])
        squares = np.add.outer(squares, (images - ear[axis]) ** 2).ravel()
        gains = np.multiply.outer(gains, walls[axis] ** np.abs(mirrors)).ravel()
    distances = np.sqrt(squares)
    direct = np.linalg.norm(ear - source)
    later = distances > direct + SPEED / RATE
    places = np.round((distances[later] - direct) / SPEED * RATE).astype(int)
    return np.bincount(places, gains[later] * direct / distances[later])


def microphone(rng: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    """The signal by telephone, by small loudspeaker, driven too hard, or both of the latter."""
    kind = rng.choice(["telephone", "speaker", "driven", "speaker and driven"])
    recorded = np.asarray(signal, np.float32)
    if kind == "telephone":
        recorded = filters.sosfilt(
            passing(rng.uniform(250, 400), rng.uniform(2800, 3600)), recorded
        )
    if "speaker" in kind:
        recorded = filters.sosfilt(
            passing(rng.uniform(150, 500), rng.uniform(5000, 12000)), recorded
        )
        peak = filters.iirpeak(rng.uniform(700, 3500), rng.uniform(1, 3), fs=RATE)
        recorded = recorded + rng.uniform(0.3, 1.2) * filters.lfilter(*peak, recorded)
    if "driven" in kind:
        loud = 0.5 * np.max(np.abs(recorded)) / rng.uniform(0.5, 1.5) + 1e-9
        recorded = loud * np.tanh(recorded / loud)
    return recorded.astype(np.float32)


def passing(low: float, high: float) -> np.ndarray:
    """A band's filter, in float32 so that it runs at single precision."""
    return filters.butter(2, (low, high), "bandpass", fs=RATE, output="sos").astype(np.float32)
