"""Sounds that the network has no name for, to measure what it makes of prompts for them: SOUNDS by
prompt. Nothing is trained on them.
"""

import numpy as np

from winnow_training.data.audio import RATE
from winnow_training.data.synthesis.primitives import (
    Generator,
    Track,
    band,
    burst,
    coloured,
    drift,
    echoes,
    gate,
    harmonics,
    moments,
    noise_around,
    occasions,
    phase,
    place,
    resonate,
    ring,
    stretches,
    there_and_back,
)

BUZZ = 1 / np.arange(1, 30)
BRIGHT = np.arange(1, 40) ** -0.5


def repeated(rng: Generator, seconds: int, grain, shortest: float, longest: float) -> Track:
    """Events with random gaps of so many seconds, each made separately."""
    track = np.zeros(seconds * RATE)
    for second in occasions(rng, seconds, shortest, longest):
        place(track, grain(), second, rng.uniform(0.6, 1))
    return track


def glide(rng: Generator, seconds: float, hertz, weights=BUZZ, tremble=(0.0, 1.0)) -> Track:
    """A tone that goes through frequencies and fades in and out; trembling by a share, so many
    times a second."""
    time = moments(seconds)
    curve = np.interp(time, np.linspace(0, seconds, len(hertz)), hertz) * rng.uniform(0.9, 1.1)
    depth, rate = tremble
    curve = curve * (1 + depth * np.sin(2 * np.pi * rate * time))
    return harmonics(phase(curve), np.asarray(weights)) * np.sin(np.pi * time / seconds) ** 0.5


def hiss(rng: Generator, seconds: float, low: float, high: float, per_second: float) -> Track:
    """Noise in a band whose level wanders."""
    count = round(seconds * RATE)
    return band(coloured(rng, count), low, high) * drift(rng, count, per_second, 0.1, 1)


def motor(rng: Generator, seconds: int, hertz: float, noise: float, low: float, high: float):
    """A turning machine: a tone with harmonics that drifts, and noise in a band."""
    count = seconds * RATE
    tone = harmonics(phase(hertz * drift(rng, count, 0.5, 0.95, 1.05)), BUZZ)
    return tone / tone.std() + noise * band(coloured(rng, count), low, high)


def struck(rng: Generator, low: float, high: float, decay: float, modes: int = 6) -> Track:
    """Something hard that is hit: inharmonic modes."""
    hertz = rng.uniform(low, high, modes)
    return ring(hertz, decay * rng.uniform(0.5, 1, modes), rng.uniform(0.3, 1, modes))


def clicks(rng: Generator, seconds: float, rate: Track, decay: float, low: float, high: float):
    """Clicks as often a second as a curve has it."""
    track = np.zeros(round(seconds * RATE))
    for at in np.flatnonzero(np.diff(np.floor(np.cumsum(rate) / RATE))):
        place(track, burst(rng, decay, low, high), at / RATE, rng.uniform(0.5, 1))
    return track


def washing_machine(rng: Generator, seconds: int) -> Track:
    time = moments(seconds)
    slosh = there_and_back(time * rng.uniform(0.6, 1.1), 0.3)
    water = band(coloured(rng, len(time), 1), 100, 2500) * (0.2 + slosh)
    return water + 0.4 * harmonics(phase(np.full(len(time), 50.0)), BUZZ)


def kettle(rng: Generator, seconds: int) -> Track:
    time = moments(seconds)
    rise = time / seconds
    tone = noise_around(rng, 2200 + 500 * rise, 30) * rise**2
    return 0.5 * band(coloured(rng, len(time), 1), 300, 6000) * (0.3 + rise) + tone


def door(rng: Generator, _: int) -> Track:
    length = rng.uniform(0.8, 1.6)
    rate = drift(rng, round(length * RATE), 3, 25, 130)
    return resonate(clicks(rng, length, rate, 0.001, 200, 6000), rng.uniform(500, 1100), 150)


def firework(rng: Generator, _: int) -> Track:
    track = np.zeros(2 * RATE)
    place(track, 0.3 * glide(rng, 0.8, (1500, 3500), (1,)), 0)
    place(track, burst(rng, 0.15, 40, 4000), 0.9, 2)
    for second in rng.uniform(1, 1.9, 40):
        place(track, burst(rng, 0.003, 1500, 9000), second, 0.4)
    return track


def train(rng: Generator, seconds: int) -> Track:
    track = 0.3 * band(coloured(rng, seconds * RATE, 1), 40, 900)
    for second in np.arange(0.1, seconds, rng.uniform(0.7, 1)):
        for after in (0, 0.12):
            place(track, burst(rng, 0.03, 150, 3000), second + after)
    return track


def snore(rng: Generator, _: int) -> Track:
    length = rng.uniform(1, 1.5)
    rate = drift(rng, round(length * RATE), 4, 25, 60)
    flutter = clicks(rng, length, rate, 0.006, 80, 1500)
    return flutter + 0.1 * hiss(rng, length, 300, 3000, 2)


def kazoo(rng: Generator, seconds: int) -> Track:
    notes = rng.choice([262, 294, 330, 392, 440], 3 * seconds)
    curve = np.repeat(notes, RATE // 3 + 1)[: seconds * RATE]
    return harmonics(phase(curve.astype(float)), BRIGHT) * gate(
        seconds * RATE, stretches(rng, (0, 0.3), seconds, (0.4, 1.5), (0.1, 0.4)), 0.02
    )


def saw(rng: Generator, seconds: int) -> Track:
    turns = moments(seconds) * rng.uniform(1.2, 2)
    noise = band(coloured(rng, seconds * RATE), 500, 6000)
    return noise * there_and_back(turns, 0.5) * (0.4 + 0.6 * (turns % 1 < 0.5))


def didgeridoo(rng: Generator, seconds: int) -> Track:
    count = seconds * RATE
    drone = harmonics(phase(rng.uniform(60, 80) * drift(rng, count, 1, 0.99, 1.01)), BRIGHT)
    return drone * drift(rng, count, 3, 0.4, 1) + 3 * resonate(drone, rng.uniform(500, 900), 200)


# Prompt: generator and whole seconds to a track.
SOUNDS = {
    "cat meowing": lambda rng, s: repeated(
        rng, s, lambda: resonate(glide(rng, 0.8, (500, 850, 700, 450)), 1500, 900), 1, 2
    ),
    "cow mooing": lambda rng, s: repeated(
        rng, s, lambda: resonate(glide(rng, 1.6, (110, 160, 150, 120)), 450, 300), 1.8, 3
    ),
    "sheep bleating": lambda rng, s: repeated(
        rng, s, lambda: glide(rng, 0.9, (330, 350, 300), BRIGHT, (0.06, 11)), 1, 2
    ),
    "frog croaking": lambda rng, s: repeated(
        rng,
        s,
        lambda: resonate(
            clicks(rng, 0.4, np.full(round(0.4 * RATE), 60.0), 0.004, 100, 3000), 700, 300
        ),
        0.5,
        1,
    ),
    "donkey braying": lambda rng, s: repeated(
        rng, s, lambda: glide(rng, 1.2, (800, 300, 900, 280), BRIGHT), 1.3, 2
    ),
    "bees buzzing in a hive": lambda rng, s: sum(
        motor(rng, s, rng.uniform(190, 270), 0.1, 200, 3000) for _ in range(4)
    ),
    "whale song": lambda rng, s: echoes(
        rng,
        repeated(rng, s, lambda: glide(rng, 1.8, rng.uniform(90, 600, 4), (1, 0.4)), 1.5, 2.5),
        0.6,
        0.5,
    ),
    "dolphin": lambda rng, s: repeated(
        rng, s, lambda: glide(rng, 0.5, rng.uniform(5000, 12000, 3), (1,)), 0.4, 1
    ),
    "snake hissing": lambda rng, s: repeated(
        rng, s, lambda: hiss(rng, 1.2, 3000, 12000, 4), 1.2, 2
    ),
    "elephant trumpeting": lambda rng, s: repeated(
        rng, s, lambda: glide(rng, 1.2, (350, 600, 650, 400), BRIGHT, (0.02, 40)), 1.4, 2.5
    ),
    "horse neighing": lambda rng, s: repeated(
        rng, s, lambda: glide(rng, 1.3, (900, 1300, 800, 400), BUZZ, (0.08, 10)), 1.4, 2.5
    ),
    "washing machine": washing_machine,
    "blender": lambda rng, s: motor(rng, s, rng.uniform(220, 280), 0.6, 1500, 9000),
    "hair dryer": lambda rng, s: motor(rng, s, rng.uniform(90, 130), 2, 300, 6000),
    "kettle boiling": kettle,
    "electric toothbrush": lambda rng, s: motor(rng, s, rng.uniform(240, 280), 0.1, 2000, 8000),
    "sewing machine": lambda rng, s: (
        clicks(rng, s, drift(rng, s * RATE, 0.5, 8, 14), 0.006, 300, 5000)
        + 0.03 * motor(rng, s, 100, 0.3, 200, 2000)
    ),
    "coffee machine": lambda rng, s: (
        hiss(rng, s, 1500, 9000, 0.7) + 0.4 * motor(rng, s, 50, 0.3, 100, 900)
    ),
    "popcorn popping": lambda rng, s: repeated(
        rng, s, lambda: burst(rng, 0.008, 200, 3000), 0.02, 0.4
    ),
    "bacon frying in a pan": lambda rng, s: (
        0.3 * hiss(rng, s, 3000, 12000, 1)
        + clicks(rng, s, drift(rng, s * RATE, 3, 10, 90), 0.001, 2000, 12000)
    ),
    "zipper": lambda rng, s: repeated(
        rng,
        s,
        lambda: clicks(rng, 0.6, np.linspace(60, 220, round(0.6 * RATE)), 0.001, 1500, 9000),
        0.8,
        1.5,
    ),
    "coins dropping": lambda rng, s: repeated(
        rng, s, lambda: struck(rng, 3000, 12000, 0.08), 0.1, 0.7
    ),
    "keys jingling": lambda rng, s: repeated(
        rng, s, lambda: struck(rng, 4000, 13000, 0.02), 0.02, 0.12
    ),
    "paper being torn": lambda rng, s: repeated(
        rng, s, lambda: hiss(rng, 0.7, 1500, 12000, 60), 0.8, 1.4
    ),
    "balloon popping": lambda rng, s: repeated(
        rng, s, lambda: burst(rng, 0.02, 100, 8000), 0.8, 1.8
    ),
    "door creaking": lambda rng, s: repeated(rng, s, lambda: door(rng, s), 1, 2),
    "hand saw cutting wood": saw,
    "hammering nails": lambda rng, s: repeated(
        rng, s, lambda: struck(rng, 800, 5000, 0.04) + 0, 0.4, 0.6
    ),
    "train passing on rails": train,
    "fireworks": lambda rng, s: repeated(rng, s, lambda: firework(rng, s), 1, 2),
    "snoring": lambda rng, s: repeated(rng, s, lambda: snore(rng, s), 2, 2.5),
    "geiger counter": lambda rng, s: repeated(
        rng, s, lambda: burst(rng, 0.0015, 1500, 8000), 0.005, 0.25
    ),
    "sonar ping": lambda rng, s: echoes(
        rng, repeated(rng, s, lambda: struck(rng, 950, 1050, 0.25, 1), 1.6, 2), 0.5, 0.6
    ),
    "light sabre": lambda rng, s: (
        harmonics(phase(90 * drift(rng, s * RATE, 1.5, 0.7, 1.4)), BRIGHT)
        * drift(rng, s * RATE, 1.5, 0.3, 1)
    ),
    "didgeridoo": didgeridoo,
    "kazoo": kazoo,
    "musical saw": lambda rng, s: repeated(
        rng, s, lambda: glide(rng, 1.3, rng.uniform(400, 900, 3), (1, 0.1), (0.015, 5)), 1, 1.3
    ),
    "triangle": lambda rng, s: repeated(rng, s, lambda: struck(rng, 4000, 11000, 0.8), 0.5, 1.2),
    "castanets": lambda rng, s: repeated(rng, s, lambda: burst(rng, 0.006, 900, 4000), 0.08, 0.4),
    "singing bowl": lambda rng, s: repeated(rng, s, lambda: struck(rng, 250, 1600, 2.5, 4), 2, 3),
}
