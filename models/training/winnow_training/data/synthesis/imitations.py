"""Imitations of what there are few recordings of: to train on beside them, never to be tested on.

Weather and machines are known processes; the cries of animals and babies are a source and a few
resonances (G. Fant, "Acoustic Theory of Speech Production", 1960). Nothing here is recorded.
"""

import numpy as np
from scipy import signal

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
    lag,
    moments,
    occasions,
    phase,
    place,
    resonate,
    ring,
    stretches,
)


def rain(rng: Generator, seconds: int) -> Track:
    """Drops: a dense far shower is noise, near ones are single hits on whatever they fall on."""
    count = seconds * RATE
    shower = band(
        coloured(rng, count, rng.uniform(0, 1.2)),
        rng.uniform(100, 800),
        rng.uniform(6000, 14000),
        1,
    )
    track = shower * drift(rng, count, 0.5, 0.6, 1.0)
    surface = rng.uniform(600, 5000)
    drops = [
        burst(
            rng,
            rng.uniform(0.0006, 0.004),
            surface * rng.uniform(0.4, 0.9),
            surface * rng.uniform(1.2, 2.8),
        )
        for _ in range(30)
    ]
    near = np.zeros(count)
    for second in rng.uniform(0, seconds, int(seconds * np.exp(rng.uniform(3, 6.5)))):
        place(near, drops[rng.integers(30)], second, rng.exponential(0.5) ** 1.5)
    return track + rng.uniform(0.1, 3) * near * track.std() / near.std()


def sea(rng: Generator, seconds: int) -> Track:
    """Waves that swell, break and run out: noise whose highest frequency follows its level."""
    count = seconds * RATE
    track = rng.uniform(0.02, 0.25) * band(coloured(rng, count, 1.2), 40, 3000, 1)
    period = rng.uniform(2.5, 8)
    dull, bright = (
        band(coloured(rng, count, slope), low, high, 1)
        for slope, low, high in (
            (1.5, 40, 600),
            (rng.uniform(0.4, 1), 300, rng.uniform(5000, 13000)),
        )
    )
    time = moments(seconds)
    for crest in np.arange(-period, seconds + period, period) + rng.uniform(0, period):
        since = time - crest - rng.normal(0, 0.15 * period)
        rise, fall = rng.uniform(0.3, 1.5), rng.uniform(0.8, 3)
        swell = np.where(since < 0, np.exp(since / rise), np.exp(-since / fall))
        track += rng.uniform(0.4, 1) * (dull * swell + 0.6 * bright * swell**1.8)
    return track


def fire(rng: Generator, seconds: int) -> Track:
    """After Farnell: a low roar that flutters, hiss, and crackles of burning wood in showers."""
    count = seconds * RATE
    roar = band(coloured(rng, count, 1.8), 25, rng.uniform(150, 500)) * drift(rng, count, 4, 0.3, 1)
    hiss = band(coloured(rng, count, 0.3), 1000, 12000, 1) * drift(rng, count, 1.5, 0.05, 1) ** 2
    track = rng.uniform(0.02, 0.4) * roar + rng.uniform(0.005, 0.08) * hiss
    second = 0.0
    while second < seconds:
        for delay in rng.exponential(rng.uniform(0.02, 0.15), rng.integers(1, 12)):
            low = np.exp(rng.uniform(np.log(300), np.log(4000)))
            snap = burst(rng, np.exp(rng.uniform(np.log(0.0004), np.log(0.006))), low, 3.5 * low)
            place(track, snap, second + delay, rng.exponential(0.35) ** 1.3)
        second += rng.exponential(0.18)
    return echoes(rng, track, 0.08, rng.uniform(0, 0.3))


def helicopter(rng: Generator, seconds: int) -> Track:
    """Blades that slap the air 10 to 25 times a second, the tail rotor's tone and the turbine."""
    count = seconds * RATE
    angle = phase(rng.uniform(10, 25) * drift(rng, count, 0.3, 0.98, 1.02))
    turn = (angle / (2 * np.pi)) % 1
    chop = np.exp(-turn * rng.uniform(3, 12)) + 0.3 * np.exp(-((turn - 0.5) % 1) * 8)
    wash = band(coloured(rng, count, rng.uniform(0.6, 1.6)), 60, rng.uniform(1500, 7000), 1)
    slap = band(np.sin(angle * rng.integers(4, 9)) * np.exp(-turn * 6), 30, 400)
    tail = harmonics(angle * rng.uniform(4.5, 6), rng.uniform(0.1, 1, 6) / np.arange(1, 7))
    whine = harmonics(phase(np.full(count, rng.uniform(500, 2500))), [1, 0.4, 0.2])
    near = drift(rng, count, 0.25, 0.4, 1.0)
    return near * (
        wash * (0.15 + chop)
        + rng.uniform(0.2, 2) * slap
        + rng.uniform(0, 0.15) * tail
        + rng.uniform(0, 0.05) * whine
    )


def chainsaw(rng: Generator, seconds: int) -> Track:
    """A two-stroke engine: a pulse at each turn through the exhaust's resonances, from idling at
    some 50 turns a second to some 150 at full throttle, fewer when the chain bites."""
    count = seconds * RATE
    idle, full = rng.uniform(35, 60), rng.uniform(110, 200)
    spans = stretches(rng, (-2, 1), seconds, (0.5, 5), (0.2, 1.5))
    throttle = lag(gate(count, spans), rng.uniform(0.08, 0.3))
    biting = drift(rng, count, 1.5, 0.75, 1.0)
    flutter = 1 + 0.6 * lag(rng.standard_normal(count), 0.01)
    angle = phase((idle + (full - idle) * throttle * biting) * flutter)
    partials = np.arange(1, 90)
    pulses = harmonics(angle, partials ** -rng.uniform(0.2, 0.8) * rng.uniform(0.3, 1, 89))
    track = 0.3 * pulses
    for _ in range(4):
        track = track + resonate(pulses, rng.uniform(300, 5000), rng.uniform(150, 900))
    turn = (angle / (2 * np.pi)) % 1
    rasp = band(coloured(rng, count, 0.2), 800, 12000, 1) * np.exp(-3 * turn)
    return (track / track.std() + rng.uniform(0.3, 1.2) * rasp) * (0.25 + throttle)


def clock(rng: Generator, seconds: int) -> Track:
    """An escapement: tick and tock, each a few clicks within some milliseconds, in a case."""
    track = np.zeros(seconds * RATE)
    modes = np.exp(rng.uniform(np.log(500), np.log(9000), 6))
    case = rng.uniform(0.002, 0.02, 6)
    beats = []
    for _ in range(2):
        beat = np.zeros(RATE // 4)
        for delay in (0.0, *rng.uniform(0.002, 0.02, rng.integers(1, 4))):
            knock = ring(modes * rng.normal(1, 0.05, 6), case, rng.uniform(0.1, 1, 6))
            place(beat, knock, delay, rng.uniform(0.2, 1))
            place(beat, burst(rng, 0.001, 2000, 12000), delay, rng.uniform(0.1, 0.6))
        beats.append(beat)
    period = rng.choice([1.0, 0.5, 0.25, 0.2, rng.uniform(0.25, 1.2)])
    limp = rng.uniform(-0.1, 0.1)
    for turn, second in enumerate(np.arange(rng.uniform(0.02, period), seconds, period)):
        place(track, beats[turn % 2], second + limp * period * (turn % 2), rng.uniform(0.85, 1))
    hush = rng.uniform(0, 0.01) * coloured(rng, len(track), 1)
    return echoes(rng, track, rng.uniform(0.02, 0.3), rng.uniform(0.05, 0.5)) + hush


def cry(rng: Generator, pitch: Track, tract: list[tuple[float, float]], breath: float) -> Track:
    """A voice of `pitch` (hertz by sample) with resonances (hertz, width) and a share of noise."""
    rough = 1 + rng.uniform(0, 0.25) * lag(rng.standard_normal(len(pitch)), 0.004)
    partials = np.arange(1, 40)
    source = harmonics(phase(pitch * rough), partials ** -rng.uniform(0.8, 1.8))
    source = source / (source.std() + 1e-9) + breath * coloured(rng, len(pitch), 1)
    return 0.08 * source + sum(resonate(source, hertz, width) for hertz, width in tract)


def dog(rng: Generator, seconds: int) -> Track:
    """Barks of a tenth to a quarter of a second, singly and in rows, of one small or large dog."""
    track = np.zeros(seconds * RATE)
    size = np.exp(rng.uniform(np.log(0.6), np.log(1.8)))
    tract = [
        (hertz * size, 120 * size**0.5 + 60)
        for hertz in rng.uniform((450, 1100, 2200), (900, 1900, 3600))
    ]
    base, breath = rng.uniform(250, 650) * size, rng.uniform(0.1, 0.8)
    row = rng.uniform(0.25, 0.6)
    for start in occasions(rng, seconds, 0.8, 3.5):
        for index in range(rng.choice([1, 1, 2, 3, 5])):
            part = np.linspace(0, 1, int(rng.uniform(0.09, 0.26) * RATE))
            arch = 1 + rng.uniform(0.2, 0.7) * np.sin(np.pi * part ** rng.uniform(0.5, 1.2))
            loud = np.minimum(1, part / 0.08) * (1 - part) ** rng.uniform(0.6, 1.5)
            bark = cry(rng, base * rng.normal(1, 0.06) * arch, tract, breath) * loud
            place(track, bark, start + index * row * rng.normal(1, 0.08), rng.uniform(0.6, 1))
    return echoes(rng, track, rng.uniform(0.05, 0.4), rng.uniform(0, 0.5))


def baby(rng: Generator, seconds: int) -> Track:
    """Cries of about a second on one breath, whose pitch (some 400 Hz) rises and falls."""
    track = np.zeros(seconds * RATE)
    tract = [
        (hertz, rng.uniform(120, 350))
        for hertz in rng.uniform((900, 2600, 4300), (1500, 3700, 6000))
    ]
    base, breath = rng.uniform(300, 480), rng.uniform(0.02, 0.3)
    second = rng.uniform(0, 0.5)
    while second < seconds:
        part = np.linspace(0, 1, int(rng.uniform(0.35, 1.6) * RATE))
        arch = np.sin(np.pi * part ** rng.uniform(0.4, 1)) ** rng.uniform(0.3, 1)
        shiver = np.sin(phase(np.full(len(part), rng.uniform(4, 9)))) * rng.uniform(0, 0.03)
        pitch = base * rng.normal(1, 0.05) * (0.75 + rng.uniform(0.2, 0.8) * arch + shiver)
        loud = np.minimum(1, part / 0.1) * np.minimum(1, (1 - part) / 0.2)
        place(track, cry(rng, pitch, tract, breath) * loud, second, rng.uniform(0.5, 1))
        second += len(part) / RATE
        if rng.random() < 0.5:  # drawing breath
            swell = signal.windows.hann(round(0.2 * RATE))
            gasp = swell * band(coloured(rng, len(swell), 0.5), 700, 7000, 1)
            place(track, gasp, second + 0.03, rng.uniform(0.02, 0.2))
        second += rng.uniform(0.15, 0.7)
    return echoes(rng, track, rng.uniform(0.05, 0.4), rng.uniform(0, 0.4))


SOUNDS = {
    sound.__name__: sound for sound in (rain, sea, fire, helicopter, chainsaw, clock, dog, baby)
}
