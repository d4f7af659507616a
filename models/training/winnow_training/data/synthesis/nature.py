"""Sounds of nature, of things struck and of bodies, made from nothing but a random generator.

Each docstring names the method and where it comes from.
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
    lag,
    moments,
    noise_around,
    occasions,
    phase,
    place,
    resonate,
    ring,
)

# Nature


def wind(rng: Generator, seconds: int) -> Track:
    """Farnell's wind: noise bands and whistling gaps whose pitch and level follow one gust."""
    count = seconds * RATE
    gust = drift(rng, count, rng.uniform(0.4, 1.2), 0.1, 1.0)
    flutter = drift(rng, count, 8, 0.75, 1.0)
    track = 0.5 * band(coloured(rng, count, 1.5), None, 400) * gust
    howl = rng.uniform(180, 420)
    track += noise_around(rng, howl * (0.6 + gust), 160) * gust**1.5 * flutter
    for _ in range(rng.integers(0, 4)):
        gap = rng.uniform(450, 1500) * (0.7 + 0.5 * lag(gust, 0.2))
        track += rng.uniform(0.1, 0.5) * noise_around(rng, gap, rng.uniform(15, 60)) * gust**2
    hiss = band(coloured(rng, count, 0.6), 800, 6000, 1)
    return track + rng.uniform(0.05, 0.3) * hiss * gust**2 * flutter


def thunder(rng: Generator, seconds: int) -> Track:
    """After Farnell: cracks of a crooked channel arrive spread out; air dulls what comes late."""
    count = seconds * RATE
    track = np.zeros(count)
    nearness = rng.uniform(0, 1)
    for strike in occasions(rng, seconds, 2.5, 9.0):
        time = np.maximum(moments(seconds) - strike, 0)
        after = time > 0
        arrivals = np.zeros(count)
        length = rng.uniform(0.8, 2.5)
        for delay in rng.exponential(length, rng.integers(12, 30)):
            swell = rng.uniform(0.08, 0.5)
            since = np.maximum(time - delay, 0) / swell
            arrivals += rng.uniform(0.2, 1) * since * np.exp(1 - since) * np.exp(-delay / length)
        rumble = band(coloured(rng, count, 2), 25, rng.uniform(120, 260)) * arrivals
        growl = band(coloured(rng, count, 1), 100, 900, 1) * arrivals * np.exp(-time / 1.2)
        track += after * rng.uniform(0.4, 1) * (rumble + (0.15 + 0.35 * nearness) * growl)
        for delay in rng.exponential(0.12, rng.integers(4, 14)):
            crack = burst(rng, rng.uniform(0.01, 0.06), 200, 1200 + 6000 * nearness)
            place(track, crack, strike + delay, nearness**2 * rng.uniform(0.5, 2.5))
    return track


def bubble(radius: float, rise: float) -> Track:
    """Van den Doel's bubble (2005): a damped sine of 3 / radius hertz (metres) that rises."""
    hertz = 3 / radius
    damping = 0.043 * hertz + 0.0014 * hertz**1.5
    time = moments(6 / damping)
    turns = hertz * time * (1 + rise * damping * time / 2)
    ease = np.minimum(1, time * hertz / 2)
    return ease * np.sin(2 * np.pi * turns) * np.exp(-damping * time)


def stream(rng: Generator, seconds: int) -> Track:
    """Running water: a crowd of Van den Doel's bubbles over a soft bed of broadband noise."""
    count = seconds * RATE
    track = np.zeros(count)
    small, large = rng.uniform(0.0004, 0.0008), rng.uniform(0.0015, 0.006)
    radii = np.exp(rng.uniform(np.log(small), np.log(large), 160))
    grains = [bubble(radius, rng.uniform(0, 0.15)) for radius in radii]
    loudness = (radii / large) ** rng.uniform(0.3, 1.1)
    flow = drift(rng, count, 2, 0.4, 1.0)
    for second in rng.uniform(-0.1, seconds, round(rng.uniform(90, 450) * seconds)):
        which = rng.integers(len(grains))
        place(track, grains[which], second, loudness[which] * rng.exponential(0.6))
    bed = band(coloured(rng, count, rng.uniform(0.3, 1)), 300, 7000, 1)
    return (track + rng.uniform(0.05, 0.6) * track.std() * bed) * flow


def drip(rng: Generator, seconds: int) -> Track:
    """Drops into water: a small impact, then the bubble it traps (Van den Doel), in a space."""
    track = np.zeros(seconds * RATE)
    radius = rng.uniform(0.0012, 0.005)
    gap = rng.uniform(0.3, 1.4)
    uneven = rng.choice([0.03, 0.5])
    for second in occasions(rng, seconds, gap * (1 - uneven), gap * (1 + uneven)):
        place(track, burst(rng, 0.002, 1500, 8000), second, rng.uniform(0.05, 0.25))
        for _ in range(rng.integers(1, 4)):
            grain = bubble(radius * rng.uniform(0.8, 1.25), rng.uniform(0.05, 0.3))
            place(track, grain, second + rng.uniform(0.008, 0.05), rng.uniform(0.3, 1))
    return echoes(rng, track, rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.7))


def crickets(rng: Generator, seconds: int) -> Track:
    """Stridulation as measured: near-sine wing pulses, in chirps (field) or in trills (tree)."""
    count = seconds * RATE
    track = np.zeros(count)
    for singer in range(rng.integers(1, 6)):
        trills = rng.random() < 0.25
        carrier = rng.uniform(2200, 4000) if trills else rng.uniform(3800, 5400)
        rate = rng.uniform(38, 60) if trills else rng.uniform(22, 34)
        time = moments(rng.uniform(0.55, 0.8) / rate)
        swell = np.abs(np.sin(np.pi * time / time[-1])) ** 0.8
        sweep = carrier * (1 + 0.03 * (0.5 - time / time[-1]))
        pulse = swell * np.sin(phase(sweep)) * (1.0 if singer == 0 else rng.uniform(0.05, 0.6))
        pulses = round(rate * rng.uniform(2, 6)) if trills else rng.integers(2, 6)
        rest = rng.uniform(0.1, 0.8) if trills else rng.uniform(0.15, 0.55)
        period = pulses / rate + rest
        for second in occasions(rng, seconds, 0.93 * period, 1.07 * period):
            for index in range(pulses):
                gain = 0.6 + 0.4 * min(1, index / 2)
                place(track, pulse, second + (index + rng.normal(0, 0.02)) / rate, gain)
    return track + rng.uniform(0, 0.01) * coloured(rng, count, 1)


# Things struck


def bell(rng: Generator, seconds: int) -> Track:
    """Church bells: modes tuned hum, prime, minor tierce, quint, nominal ..., each a pair."""
    ratios = np.array([0.5, 1, 1.2, 1.5, 2, 2.5, 2.67, 3, 4, 5.33, 6.7])
    lengths = np.array([1, 0.5, 0.45, 0.25, 0.3, 0.12, 0.12, 0.12, 0.08, 0.05, 0.03])
    track = np.zeros(seconds * RATE)
    prime = np.exp(rng.uniform(np.log(140), np.log(700)))
    bells = []
    for step in rng.permutation([0, 2, 4, 5, 7])[: rng.choice([1, 1, 1, 2, 3])]:
        modes = prime * 2 ** (step / 12) * ratios * rng.normal(1, 0.006, len(ratios))
        decays = lengths * rng.uniform(1.5, 4) * (300 / prime) ** 0.4
        gains = rng.uniform(0.2, 1, len(ratios)) * (
            0.5,
            1,
            1,
            0.5,
            1.2,
            0.5,
            0.5,
            0.7,
            0.5,
            0.4,
            0.3,
        )
        twins = modes * (1 + rng.uniform(0.0003, 0.002, len(modes)))
        modes, decays, gains = np.r_[modes, twins], np.r_[decays, decays], np.r_[gains, gains * 0.6]
        stroke = ring(modes, decays, gains, longest=seconds)
        place(stroke, burst(rng, 0.006, 1500, 7000), 0, rng.uniform(0.2, 0.8))
        bells.append(stroke)
    gap = rng.uniform(0.9, 2.6) / len(bells) ** 0.7
    for turn, second in enumerate(occasions(rng, seconds, gap * 0.97, gap * 1.03)):
        place(track, bells[turn % len(bells)], second, rng.uniform(0.7, 1))
    return track


def knock(rng: Generator, seconds: int) -> Track:
    """Knuckles on a door: the short modes of a wooden (or metal) panel, in groups of knocks."""
    track = np.zeros(seconds * RATE)
    metal = rng.random() < 0.2
    modes = rng.uniform(90, 220) * np.cumsum(np.r_[1, rng.uniform(0.3, 1.2, 9)])
    decays = rng.uniform(0.012, 0.04) * (5 if metal else 1) * (modes / modes[0]) ** -0.6
    beat = rng.uniform(0.13, 0.32)
    knocks = rng.integers(2, 6)
    pause = knocks * beat + rng.uniform(0.7, 2)
    for group in occasions(rng, seconds, pause * 0.85, pause * 1.15):
        for index in range(knocks):
            gains = rng.uniform(0.4, 1, len(modes)) * (modes / modes[0]) ** -rng.uniform(0.4, 0.9)
            second = group + beat * (index + rng.normal(0, 0.05))
            gain = rng.uniform(0.6, 1)
            place(track, ring(modes, decays, gains), second, gain)
            place(track, burst(rng, 0.003, 600, 3500), second, 0.5 * gain)
    return echoes(rng, track, rng.uniform(0.03, 0.2), rng.uniform(0.1, 0.5))


def glass(rng: Generator, seconds: int) -> Track:
    """Breaking glass: a blow, then hundreds of shards, each a few short high modes (modal)."""
    track = np.zeros(seconds * RATE)
    pitch = rng.uniform(1500, 3200)
    shards = []
    for _ in range(60):
        modes = pitch * np.exp(rng.uniform(0, 1.1)) * np.array([1, *rng.uniform(1.3, 4, 3)])
        decays = np.exp(rng.uniform(np.log(0.006), np.log(0.06))) / np.array([1, 1.5, 2, 2.5])
        shards.append(ring(modes, decays, rng.uniform(0.3, 1, 4)))
    for crash in occasions(rng, seconds, 2, 8):
        place(track, burst(rng, rng.uniform(0.01, 0.05), 400, 9000), crash, rng.uniform(2, 5))
        place(track, ring([rng.uniform(150, 500)], [0.03], [2.0]), crash)
        spread = rng.uniform(0.12, 0.4)
        falls = rng.exponential(spread, rng.integers(120, 320))
        for delay in falls:
            gain = rng.exponential(0.5) * np.exp(-delay / (3 * spread))
            place(track, shards[rng.integers(60)], crash + delay, gain)
        for _ in range(rng.integers(2, 9)):
            second, gap = crash + rng.uniform(0.2, 1.2), rng.uniform(0.06, 0.16)
            shard, gain = shards[rng.integers(60)], rng.uniform(0.2, 0.8)
            while gap > 0.012:
                place(track, shard, second, gain)
                second, gap, gain = second + gap, gap * 0.7, gain * 0.6
    return track


def click(rng: Generator, seconds: int) -> Track:
    """Switch transients: mouse buttons (press, release) or a camera (mirror, shutter, motor)."""
    track = np.zeros(seconds * RATE)
    modes, camera = rng.uniform(1800, 6500, 4), rng.random() < 0.4
    down = ring(modes, rng.uniform(0.001, 0.004, 4), rng.uniform(0.3, 1, 4))
    up = ring(modes * rng.uniform(1.05, 1.4), rng.uniform(0.001, 0.003, 4), rng.uniform(0.3, 1, 4))
    hold = rng.uniform(0.08, 0.3) if camera else rng.uniform(0.06, 0.13)
    motor = moments(rng.uniform(0.1, 0.4))
    whir = harmonics(phase(np.full(len(motor), rng.uniform(150, 400))), 1 / np.arange(1, 20))
    whir = (whir + coloured(rng, len(motor))) * np.sin(np.pi * motor / motor[-1])
    whir = band(whir, 800, 7000, 1) * rng.choice([0.0, 0.1])
    second = rng.uniform(0.02, 0.4)
    while second < seconds:
        place(track, down, second, rng.uniform(0.7, 1))
        place(track, burst(rng, 0.001, 1500, 12000), second, 0.5)
        place(track, up, second + hold * rng.uniform(0.9, 1.1), rng.uniform(0.4, 0.8))
        if camera:
            place(track, burst(rng, rng.uniform(0.008, 0.02), 400, 6000), second + 0.004, 1)
            place(track, burst(rng, 0.012, 900, 9000), second + hold, 0.8)
            place(track, whir, second + hold + 0.01)
        doubled = not camera and rng.random() < 0.3
        second += rng.uniform(0.2, 0.28) if doubled else rng.uniform(0.4, 1.6)
    return track


def typing(rng: Generator, seconds: int) -> Track:
    """Keys: a contact click, the thud of bottoming out, a softer release; in bursts of words."""
    track = np.zeros(seconds * RATE)
    bright, body = rng.uniform(2000, 4500), rng.uniform(180, 480)
    keys = []
    for _ in range(10):
        key = np.zeros(round(0.2 * RATE))
        modes = bright * rng.uniform(0.7, 1.5, 4)
        place(key, ring(modes, rng.uniform(0.002, 0.006, 4), rng.uniform(0.2, 0.6, 4)), 0.0)
        place(key, burst(rng, rng.uniform(0.002, 0.006), 900, 8000), 0.0, 0.6)
        thud = ring([body * rng.uniform(0.8, 1.25)], [rng.uniform(0.006, 0.014)], [1.0])
        place(key, thud, rng.uniform(0.004, 0.012), rng.uniform(0.3, 1))
        release = ring(modes * 1.2, np.full(4, 0.002), rng.uniform(0.1, 0.3, 4))
        place(key, release, rng.uniform(0.06, 0.12), rng.uniform(0.3, 1))
        keys.append(key)
    pace = rng.uniform(0.09, 0.2)
    second = rng.uniform(0.02, 0.3)
    while second < seconds:
        for _ in range(rng.integers(3, 14)):
            place(track, keys[rng.integers(10)], second, rng.uniform(0.5, 1))
            second += pace * np.exp(rng.normal(0, 0.3))
        second += rng.exponential(0.35)
    return echoes(rng, track, 0.05, rng.uniform(0.05, 0.3))


def doorbell(rng: Generator, seconds: int) -> Track:
    """Chimes, ding then dong, as the modes of struck bars (1, 2.76, 5.40); or a mains buzzer."""
    count = seconds * RATE
    if rng.random() < 0.25:
        spans = [
            (second, second + rng.uniform(0.3, 1.2)) for second in occasions(rng, seconds, 1.5, 3)
        ]
        rattle = harmonics(phase(np.full(count, rng.choice([100.0, 120.0]))), np.ones(60))
        rattle = rattle + 2 * resonate(rattle, rng.uniform(800, 3000), 300)
        return band(rattle, 200, 6000, 1) * gate(count, spans, 0.01)
    track = np.zeros(count)
    high = rng.uniform(520, 1000)
    bars = np.array([1, 2.756, 5.404])
    steps = [(0, -4), (0, -4), (0, -3), (0, -5, -3, -8)][rng.integers(4)]
    between, length = rng.uniform(0.35, 0.75), rng.uniform(0.4, 1)
    overtones = np.array([1, rng.uniform(0.05, 0.4), rng.uniform(0, 0.2)])
    pause = between * len(steps) + rng.uniform(0.8, 2.5)
    for press in occasions(rng, seconds, pause, pause * 1.3):
        for index, step in enumerate(steps):
            modes = high * 2 ** (step / 12) * bars
            note = ring(modes, length / np.array([1, 3, 8]), overtones)
            place(track, note, press + index * between)
            place(track, burst(rng, 0.002, 1000, 6000), press + index * between, 0.15)
    return track


# Bodies


def step_on(rng: Generator, surface: str, weight: float) -> Track:
    """Half a footstep (heel or toe) on 'hard', 'wood', 'gravel', 'snow' or 'leaves'."""
    if surface in ("hard", "wood"):
        modes = rng.normal(1, 0.04, 5) * (110, 190, 310, 520, 900)
        decays = np.full(5, 0.035 if surface == "wood" else 0.012)
        grain = ring(modes, decays, np.array([1, 0.8, 0.6, 0.3, 0.2]))
        place(grain, burst(rng, 0.004, 700, 5000), 0.0, 0.4 if surface == "wood" else 1.0)
        return weight * grain
    low, high, rate, fall = {
        "gravel": (1200, 7000, 900, 0.06),
        "snow": (300, 3500, 2500, 0.09),
        "leaves": (2000, 9000, 500, 0.08),
    }[surface]
    time = moments(5 * fall)
    energy = np.minimum(1, time / 0.02) * np.exp(-time / fall)
    hits = (rng.random(len(time)) < rate * energy / RATE) * rng.exponential(1, len(time))
    grain = np.convolve(hits * energy, burst(rng, 0.0015, low, high))[: len(time)]
    place(grain, ring([rng.uniform(60, 110)], [0.02], [0.5]), 0.0)
    return weight * grain


def footsteps(rng: Generator, seconds: int) -> Track:
    """Cook's PhISEM for loose ground (grains that collide as energy decays), modes for floors."""
    track = np.zeros(seconds * RATE)
    surface = rng.choice(["hard", "hard", "wood", "gravel", "snow", "leaves"])
    beat = rng.choice([rng.uniform(0.45, 0.7), rng.uniform(0.3, 0.4)], p=[0.8, 0.2])
    roll = rng.uniform(0.15, 0.28) * beat
    for index, second in enumerate(occasions(rng, seconds, beat * 0.95, beat * 1.05)):
        gain = rng.uniform(0.75, 1) * (1.0 if index % 2 else 0.85)
        place(track, step_on(rng, surface, 1.0), second, gain)
        place(track, step_on(rng, surface, rng.uniform(0.3, 0.7)), second + roll, gain)
    return echoes(rng, track, rng.uniform(0.04, 0.3), rng.uniform(0.05, 0.5))


def whistle(rng: Generator, seconds: int) -> Track:
    """A person whistling: near-sine with glides and vibrato, breath noise around the pitch."""
    count = seconds * RATE
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12, 14])
    tonic, pace = rng.uniform(650, 1300), rng.uniform(0.16, 0.5)
    pitch, spans = np.full(count, tonic), []
    second, degree = rng.uniform(0.02, 0.3), rng.integers(len(scale))
    while second < seconds:
        for _ in range(rng.integers(2, 9)):
            degree = np.clip(degree + rng.integers(-3, 4), 0, len(scale) - 1)
            length = pace * rng.choice([1, 1, 2, 3])
            pitch[round(second * RATE) :] = tonic * 2 ** (scale[degree] / 12)
            spans.append((second, second + length * rng.choice([0.85, 1.0])))
            second += length
        second += rng.uniform(0.2, 0.7)
    glide = np.exp(lag(lag(np.log(pitch), rng.uniform(0.01, 0.04)), 0.012))
    vibrato = rng.uniform(0, 0.015) * drift(rng, count, 2, 0, 1)
    glide *= 1 + vibrato * np.sin(2 * np.pi * rng.uniform(4.5, 6.5) * moments(seconds))
    tone = harmonics(phase(glide), [1, rng.uniform(0.005, 0.06), 0.01])
    breath = noise_around(rng, glide, 250) + 0.5 * band(coloured(rng, count), 1500, 7000)
    loud = lag(gate(count, spans, 0.03), 0.015) * drift(rng, count, 3, 0.7, 1)
    return echoes(rng, (tone + rng.uniform(0.01, 0.08) * breath) * loud, 0.2, rng.uniform(0, 0.4))


def heartbeat(rng: Generator, seconds: int) -> Track:
    """Heart sounds through a stethoscope: lub and a shorter, higher dub, damped low modes."""
    track = np.zeros(seconds * RATE)
    beat = 60 / rng.uniform(52, 130)
    systole = 0.2 + 0.13 * beat
    low = rng.uniform(38, 60)
    lub = ring([low, low * 1.7, low * 2.9], [0.035, 0.025, 0.015], [1, 0.7, 0.35])
    dub = ring([low * 1.35, low * 2.3, low * 3.6], [0.025, 0.018, 0.01], [0.8, 0.6, 0.35])
    for second in occasions(rng, seconds, beat * 0.96, beat * 1.04):
        place(track, lub, second, rng.uniform(0.85, 1))
        place(track, dub, second + systole, rng.uniform(0.5, 0.9))
    murmur = band(coloured(rng, len(track), 1), 30, 250) * rng.uniform(0, 0.02)
    return np.tanh(rng.uniform(0.5, 2) * band(track, 25, rng.uniform(150, 500)) + murmur)


SOUNDS = (
    wind,
    thunder,
    stream,
    drip,
    crickets,
    bell,
    knock,
    glass,
    click,
    typing,
    doorbell,
    footsteps,
    whistle,
    heartbeat,
)
