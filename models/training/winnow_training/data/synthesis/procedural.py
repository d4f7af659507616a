"""Everyday sounds made from nothing but a random generator, for training: SOUNDS by name.

Each call makes a different siren, bell or engine. Nothing here is recorded or learned: every
docstring names the method. Nature, struck things and bodies are in nature.py, the blocks of both
in primitives.py.
"""

from collections.abc import Callable

import numpy as np
from scipy import signal

from winnow_training.data.audio import RATE
from winnow_training.data.synthesis import nature
from winnow_training.data.synthesis.primitives import (
    Generator,
    Track,
    band,
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
    stretches,
    there_and_back,
)

Sound = Callable[[Generator, int], Track]


# Warnings


def siren(rng: Generator, seconds: int) -> Track:
    """Emergency sirens: a rich tone swept as wail, yelp or hi-lo (or a motor), from a horn."""
    time = moments(seconds)
    low = rng.uniform(380, 700)
    high = low * rng.uniform(1.7, 2.6)
    rise = rng.uniform(0.35, 0.65)

    def swept(period: float) -> Track:
        ramp = there_and_back(time / period + rng.random(), rise)
        return low * (high / low) ** lag(ramp, 0.04 * period)

    wail, yelp = swept(rng.uniform(2.5, 6)), swept(rng.uniform(0.22, 0.5))
    second_tone = low * rng.choice([4 / 3, 1.25, 1.5])
    tones = np.where((time / rng.uniform(0.9, 1.6) + rng.random()) % 1 < 0.5, low, second_tone)
    kind = rng.choice(["wail", "yelp", "hi-lo", "both", "motor"])
    if kind == "both":
        pitch = np.where(time < rng.uniform(0.3, 0.7) * seconds, wail, yelp)
    else:
        motor = 0.7 * swept(rng.uniform(6, 12))
        pitch = {"wail": wail, "yelp": yelp, "hi-lo": lag(tones, 0.004), "motor": motor}[kind]
    partials = np.arange(1, 16)
    weights = partials ** -rng.uniform(0.7, 1.8) * np.where(partials % 2, 1, rng.uniform(0.2, 1))
    cry = harmonics(phase(pitch), weights)
    cry = cry + 2 * resonate(cry, rng.uniform(900, 2200), 700)
    return echoes(rng, cry, 0.4, rng.uniform(0, 0.4)) * drift(rng, len(time), 0.3, 0.4, 1)


def plain_siren(rng: Generator, seconds: int) -> Track:
    """A siren as games and toys have it: a sweep or two tones of a few partials, dry and even."""
    time = moments(seconds)
    low = rng.uniform(350, 1100)
    high = low * rng.uniform(1.3, 2.8)
    turns = time / np.exp(rng.uniform(np.log(0.2), np.log(6))) + rng.random()
    ramp = there_and_back(turns, rng.choice([0.5, rng.uniform(0.05, 0.95)]))
    share = {
        "straight": ramp,
        "round": 0.5 - 0.5 * np.cos(np.pi * ramp),
        "two tones": turns % 1 < 0.5,
    }[rng.choice(["straight", "straight", "round", "two tones"])]
    pitch = low + (high - low) * share if rng.random() < 0.5 else low * (high / low) ** share
    partials = np.arange(1, 1 + rng.integers(1, 10))
    weights = partials ** -rng.uniform(0.5, 2.5) * rng.uniform(0.4, 1, len(partials))
    return harmonics(phase(pitch), weights)


def alarm(rng: Generator, seconds: int) -> Track:
    """Beepers: square or sine bursts in the rhythms in use (ISO 8201 temporal-3, clock, truck)."""
    count = seconds * RATE
    on = rng.uniform(0.05, 0.25)
    rhythm, pitch = {
        "steady": ([(on, on * rng.uniform(0.6, 2))], rng.uniform(700, 3500)),
        "temporal-3": ([(0.5, 0.5), (0.5, 0.5), (0.5, 1.5)], rng.uniform(2900, 3400)),
        "clock": ([(0.06, 0.065)] * 3 + [(0.06, rng.uniform(0.4, 0.7))], rng.uniform(1800, 2400)),
        "truck": ([(0.5, rng.uniform(0.4, 0.6))], rng.uniform(950, 1400)),
        "double": ([(on, 0.6 * on), (on, rng.uniform(0.4, 1))], rng.uniform(800, 3000)),
    }[rng.choice(["steady", "temporal-3", "clock", "truck", "double"])]
    spans, second = [], rng.uniform(0.02, 0.3)
    while second < seconds:
        for length, pause in rhythm:
            spans.append((second, second + length))
            second += length + pause
    hertz = np.full(count, pitch)
    if rng.random() < 0.25:
        hertz[(moments(seconds) / rng.uniform(0.06, 0.2)).astype(int) % 2 == 1] *= 1.25
    weights = np.array([1, 0, 1 / 3, 0, 0.2, 0, 0.14]) if rng.random() < 0.5 else np.ones(1)
    return harmonics(phase(hertz), weights) * gate(count, spans, 0.005)


def blasts(rng: Generator, seconds: int, lengths: list[float], pause: float) -> Track:
    """The opening of a horn that is sounded for each of the lengths, again and again."""
    spans, second = [], rng.uniform(0.02, min(0.5, 0.15 * seconds))
    while second < seconds:
        for length in lengths:
            spans.append((second, second + length))
            second += length + pause * rng.uniform(0.8, 1.2)
        second += rng.uniform(0.8, 3)
    return gate(seconds * RATE, spans, 0.01)


def carhorn(rng: Generator, seconds: int) -> Track:
    """Car horns: two buzzing plates a third or a fourth apart, rich up to the plate's peak."""
    lengths = list(rng.choice([0.12, 0.2, 0.35, 0.8, 1.6], rng.integers(1, 4)))
    opening = lag(blasts(rng, seconds, lengths, rng.uniform(0.1, 0.3)), 0.01)
    partials = np.arange(1, 25)
    root = rng.uniform(330, 450)
    track = np.zeros(len(opening))
    for ratio in [1, rng.choice([1.2, 1.25, 1.335])][: rng.choice([1, 2], p=[0.25, 0.75])]:
        peak = rng.uniform(1800, 3000)
        weights = partials**-0.6 / (1 + ((root * ratio * partials - peak) / 1400) ** 2)
        weights = (weights + 0.2 / partials) * rng.uniform(0.6, 1.2, 24)
        wobble = drift(rng, len(opening), 6, 0.998, 1.002)
        track += harmonics(phase(root * ratio * wobble * (0.96 + 0.04 * opening)), weights)
    return echoes(rng, track * opening, 0.2, rng.uniform(0, 0.4))


def trainhorn(rng: Generator, seconds: int) -> Track:
    """Locomotive air horns: chords of three to five bells (as a K5LA's), scoop, breath, echo."""
    chords = [
        [311, 370, 415, 494, 622],
        [311, 370, 494],
        [277, 330, 392, 494, 554],
        [255, 311, 440],
        [311, 415, 622],
        [370, 660],
    ]
    chord = np.array(chords[rng.integers(len(chords))]) * rng.uniform(0.9, 1.1)
    lengths = [[2.2, 2.2, 0.7, 3], [2.5], [0.8, 0.8], [1.5, 0.4]][rng.integers(4)]
    opening = lag(blasts(rng, seconds, lengths, 0.6), 0.06)
    partials = np.arange(1, 20)
    track = 0.05 * band(coloured(rng, len(opening)), 500, 5000)
    for note in chord * rng.normal(1, 0.004, len(chord)):
        weights = np.exp(-partials * note / rng.uniform(900, 2200)) * rng.uniform(0.5, 1, 19)
        weights[0] *= 0.6
        scoop = 1 - 0.05 * (1 - opening) ** 2
        track += harmonics(phase(note * scoop * drift(rng, len(opening), 5, 0.998, 1.002)), weights)
    return echoes(rng, track * opening, rng.uniform(0.3, 0.7), rng.uniform(0.1, 0.6))


# Machines


def firing(rng: Generator, rpm: Track, offsets: Track, sharpness: float) -> Track:
    """Farnell's four-stroke engine: each cylinder puts a pressure pulse out every two turns."""
    cycles = np.cumsum(rpm) / (120 * RATE)
    pulses = np.zeros(len(rpm))
    for offset in offsets:
        since = (cycles + offset) % 1.0
        pulses += rng.uniform(0.7, 1) * np.exp(-sharpness * since)
    return pulses * (1 + rng.uniform(0.05, 0.3) * coloured(rng, len(rpm), 0.5))


def throttle(rng: Generator, seconds: int, busy: float) -> Track:
    """How far an engine is revved, 0 to 1: presses of the pedal, slower to fall than to rise."""
    pressed = np.zeros(seconds * RATE)
    if rng.random() < busy:
        for second in occasions(rng, seconds, 0.5, 2.5):
            begin = round(second * RATE)
            pressed[begin : begin + round(rng.uniform(0.15, 1.2) * RATE)] = rng.uniform(0.3, 1)
    return 0.7 * lag(pressed, 0.15) + 0.3 * lag(pressed, 0.6)


def exhausted(rng: Generator, pulses: Track, pipe: float, widths: float) -> Track:
    """The pulses through an exhaust: resonances of a pipe closed at one end, and some directly."""
    track = 0.3 * band(pulses, 30, 2500, 1)
    for index, gain in enumerate([1, 0.8, 0.5, 0.3]):
        track += gain * resonate(pulses, pipe * (2 * index + 1) * rng.normal(1, 0.04), widths)
    return track


def engine(rng: Generator, seconds: int) -> Track:
    """A car idling or revving: Farnell's firing pulses of 3 to 8 cylinders, exhaust and valves."""
    pedal = throttle(rng, seconds, 0.6)
    cylinders = rng.choice([3, 4, 4, 6, 8])
    uneven = drift(rng, len(pedal), 10, 0.98, 1.02)
    rpm = (rng.uniform(650, 1100) + rng.uniform(1500, 4500) * pedal) * uneven
    offsets = np.arange(cylinders) / cylinders + rng.normal(0, 0.006, cylinders)
    pulses = firing(rng, rpm, offsets, rng.uniform(12, 25))
    track = exhausted(rng, pulses, rng.uniform(45, 110), rng.uniform(40, 120))
    ticks = np.maximum(0, np.sin(phase(rpm / 60 * cylinders / 2))) ** 6
    valves = band(coloured(rng, len(rpm)), 1500, 7000, 1) * ticks
    air = band(coloured(rng, len(rpm), 0.5), 200, 4000, 1) * (0.2 + pedal)
    track = track / track.std() + rng.uniform(0.03, 0.25) * valves + rng.uniform(0.05, 0.2) * air
    return track * (0.4 + 0.6 * pedal)


def motorcycle(rng: Generator, seconds: int) -> Track:
    """One or two cylinders (single, parallel or V twin), sharp pulses through a short exhaust."""
    pedal = throttle(rng, seconds, 0.8)
    uneven = drift(rng, len(pedal), 7, 0.95, 1.05)
    rpm = (rng.uniform(750, 1300) + rng.uniform(2500, 6500) * pedal) * uneven
    offsets = [[0.0], [0.0, 0.5], [0.0, 315 / 720], [0.0, 270 / 720]][rng.integers(4)]
    pulses = firing(rng, rpm, np.array(offsets), rng.uniform(20, 50))
    track = exhausted(rng, pulses, rng.uniform(90, 200), rng.uniform(50, 150))
    track = np.tanh(rng.uniform(0.8, 2) * track / track.std())
    return band(track, 35, rng.uniform(3000, 8000), 1) * (0.4 + 0.6 * pedal)


def airplane(rng: Generator, seconds: int) -> Track:
    """A propeller's blade harmonics or a jet's roar and whine, passing: Doppler, ground echo."""
    count = seconds * RATE
    speed, height = rng.uniform(50, 180), rng.uniform(80, 500)
    along = speed * (moments(seconds) - rng.uniform(-0.2, 1.2) * seconds)
    distance = np.hypot(along, height)
    doppler = 1 / (1 + speed * along / distance / 343)
    near = height / distance
    roar = coloured(rng, count, 1)
    if rng.random() < 0.5:
        blades = rng.uniform(65, 130) * drift(rng, count, 1, 0.99, 1.01)
        partials = np.arange(1, 40)
        weights = partials ** -rng.uniform(0.5, 1.1) * rng.uniform(0.4, 1, 39)
        track = harmonics(phase(blades * doppler), weights) * (1 + 0.15 * coloured(rng, count, 1))
        track += 0.5 * harmonics(phase(blades * doppler * rng.choice([0.5, 0.75])), weights[:12])
        track = band(track, 50, 3500, 1) + 0.3 * band(roar, 100, 3000, 1)
    else:
        whine = rng.uniform(1200, 3200) * doppler
        fan = noise_around(rng, whine, 20) + 0.5 * noise_around(rng, whine * 1.53, 40)
        track = band(roar, 40, 900, 1) + near * band(roar, 700, 6000, 1)
        track += rng.uniform(0.03, 0.4) * fan * near
    delay = rng.uniform(0.0008, 0.003) * (0.5 + near) * RATE
    places = np.arange(count)
    track += 0.5 * np.interp(places - delay, places, track)
    return track * near * drift(rng, count, 3, 0.8, 1)


def vacuum(rng: Generator, seconds: int) -> Track:
    """A universal motor's whine (turns and their harmonics) under the rush of air in a hose."""
    count = seconds * RATE
    spin = np.ones(count)
    if rng.random() < 0.35:
        spin = lag(gate(count, [(rng.uniform(0.05, 0.2) * seconds, seconds + 1)]), 0.25)
        spin = spin if rng.random() < 0.6 else spin[::-1]
    load = drift(rng, count, rng.uniform(0.5, 2), 0.94, 1.03)
    turns = phase(rng.uniform(220, 600) * load * (0.05 + 0.95 * spin))
    partials = np.arange(1, 26)
    whine = harmonics(turns, partials ** -rng.uniform(0.5, 1.2) * rng.uniform(0.1, 1, 25))
    whine *= 1 + 0.2 * np.sin(2 * np.pi * rng.choice([100, 120]) * moments(seconds))
    rush = coloured(rng, count, rng.uniform(0.3, 1.2))
    air = band(rush, 150, 9000, 1)
    for _ in range(3):
        air = air + 2 * resonate(rush, rng.uniform(250, 3000), rng.uniform(100, 400))
    whine *= rng.uniform(0.2, 0.9) * air.std() / whine.std()
    return (whine + air * load**4) * spin**1.5


def drill(rng: Generator, seconds: int) -> Track:
    """A power drill in bursts: motor and gear whine that spins up and coasts, noise or hammer."""
    count = seconds * RATE
    pressed = gate(count, stretches(rng, (0.02, 0.3), seconds, (0.3, 2.5), (0.3, 1.2)))
    spin = lag(pressed, rng.uniform(0.05, 0.12))
    biting = lag(pressed, 0.3) * pressed
    load = 1 - 0.25 * biting * drift(rng, count, 3, 0.2, 1)
    turns = phase(10 + rng.uniform(250, 800) * spin * load)
    partials = np.arange(1, 22)
    whine = harmonics(turns, partials ** -rng.uniform(0.4, 0.9) * rng.uniform(0.1, 1, 21))
    whine += rng.uniform(0.2, 0.6) * np.sign(np.sin(turns * rng.choice([0.25, 1 / 3])))
    cutting = band(coloured(rng, count, 0.5), 500, 8000, 1) * biting
    if rng.random() < 0.3:
        blow = (np.cumsum(rng.uniform(30, 55) * spin) / RATE) % 1
        cutting = cutting * 6 * np.exp(-8 * blow)
    return band(whine, 150, 9000, 1) * spin**1.5 + rng.uniform(0.3, 1.5) * cutting


def noise(rng: Generator, seconds: int) -> Track:
    """Steady noise, white to brownish, or radio static: noise, fading, with random crackle."""
    count = seconds * RATE
    if rng.random() < 0.6:
        return coloured(rng, count, rng.uniform(0, 2))
    hits = (rng.random(count) < rng.uniform(5, 300) / RATE) * rng.standard_normal(count)
    crackle = signal.lfilter([1], [1, -0.6], hits) * rng.uniform(1, 8)
    hiss = coloured(rng, count, rng.uniform(0, 0.6)) * drift(rng, count, 3, 0.3, 1)
    return band(rng.uniform(0.1, 1) * hiss + crackle, 150, rng.uniform(3500, 12000))


def hum(rng: Generator, seconds: int) -> Track:
    """Mains: 50 or 60 Hz and mostly even harmonics (what the core does), humming to buzzing."""
    count = seconds * RATE
    partials = np.arange(1, 41)
    slope = rng.uniform(0.5, 2.2)
    weights = partials**-slope * rng.uniform(0.1, 1, 40) * np.where(partials % 2, 0.5, 1.5)
    mains = rng.choice([50, 60]) * drift(rng, count, 0.5, 0.9995, 1.0005)
    track = harmonics(phase(mains), weights) * drift(rng, count, 1, 0.85, 1)
    return track + rng.uniform(0, 0.02) * coloured(rng, count, 1)


# Signals


KEYPAD = {
    key: (row, column)
    for row, keys in ((697, "123"), (770, "456"), (852, "789"), (941, "*0#"))
    for key, column in zip(keys, (1209, 1336, 1477))
}
NETWORKS = [  # dial tone; busy: tones, on, off; ringing: tones, then on and off in turn
    ((350, 440), ((480, 620), 0.5, 0.5), ((440, 480), 2.0, 4.0)),
    ((350, 440), ((480, 620), 0.25, 0.25), ((440, 480), 2.0, 4.0)),
    ((425,), ((425,), 0.5, 0.5), ((425,), 1.0, 4.0)),
    ((350, 440), ((400,), 0.375, 0.375), ((400, 450), 0.4, 0.2, 0.4, 2.0)),
]


def dialtone(rng: Generator, seconds: int) -> Track:
    """Telephone tones of ITU-T E.180 and Q.23, Bellcore: dial, DTMF digits, ringing, busy."""
    dial, busy, ringing = NETWORKS[rng.integers(len(NETWORKS))]
    plan = rng.choice(["dial", "digits", "ringing", "busy", "call"])
    events, second = [], rng.uniform(0.02, 0.3)
    if plan in ("dial", "call"):
        length = rng.uniform(0.6, 1.5) if plan == "call" else seconds
        events.append((dial, second, second + length))
        second += length + 0.1
    on, off = rng.uniform(0.06, 0.2), rng.uniform(0.05, 0.25)
    digits = {"digits": 1000, "call": rng.integers(3, 12)}.get(plan, 0)
    while digits > 0 and second < seconds:
        digits -= 1
        events.append((KEYPAD[rng.choice(list(KEYPAD))], second, second + on))
        second += on + off * rng.uniform(0.8, 1.6)
    tones, *rhythm = busy if plan == "busy" else ringing
    while second < seconds:
        for length, pause in zip(rhythm[::2], rhythm[1::2]):
            events.append((tones, second, second + length))
            second += length + pause
    track, time = np.zeros(seconds * RATE), moments(seconds)
    for tones, begin, end in events:
        piece = slice(round(begin * RATE), round(end * RATE))
        for hertz in tones:
            track[piece] += np.sin(2 * np.pi * hertz * time[piece])
    return band(track, 250, 3400)


MORSE = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- "
            "...- .-- -..- -.-- --.."
        ).split(),
    )
)


def morse(rng: Generator, seconds: int) -> Track:
    """Morse code at 8 to 28 words a minute (a dot is 1.2 s / speed): keyed tone, some static."""
    dot = 1.2 / rng.uniform(8, 28)
    spans, second = [], rng.uniform(0.02, 0.3)
    while second < seconds:
        for letter in rng.choice(list(MORSE), rng.integers(2, 8)):
            for mark in MORSE[letter]:
                length = dot if mark == "." else 3 * dot
                spans.append((second, second + length))
                second += length + dot
            second += 2 * dot
        second += 4 * dot
    count = seconds * RATE
    weights = [1, 0, rng.choice([0, 0.33]), 0, rng.choice([0, 0.15])]
    tone = harmonics(phase(np.full(count, rng.uniform(400, 1000))), weights)
    static = rng.choice([0, rng.uniform(0.01, 0.06)]) * band(coloured(rng, count), 300, 3000)
    return tone * gate(count, spans, 0.006) + static


def blip(rng: Generator, kind: str, wave: str) -> Track:
    """One game event: a note curve, played on a pulse, a stepped triangle or held noise."""
    length = rng.uniform(0.15, 0.5)
    time = moments(length)
    part = time / length
    base = rng.uniform(180, 700)
    notes = base * 2 ** (rng.choice([(0, 4, 7, 12), (0, 3, 7, 12), (0, 7, 12, 19)]) / 12)
    pitch = {
        "jump": base * (1 + rng.uniform(0.8, 2) * part),
        "coin": 3 * base * np.where(part < 0.2, 1, 1.335),
        "laser": 40 + 5 * base * (1 - part) ** 2,
        "arpeggio": notes[(time / rng.uniform(0.025, 0.07)).astype(int) % 4],
        "note": np.full(len(time), base * 2 ** (rng.choice([0, 3, 5, 7, 10, 12]) / 12)),
        "explosion": 9000 * (1 - 0.8 * part),
    }[kind]
    turn = np.cumsum(pitch) / RATE
    if kind == "explosion":
        track = rng.choice([-1.0, 1.0], int(turn[-1]) + 1)[turn.astype(int)]
    elif wave == "triangle":
        track = np.round(15 * np.abs(2 * (turn % 1) - 1)) / 7.5 - 1
    else:
        track = np.where(turn % 1 < float(wave), 1.0, -1.0)
    return track * (1 - part) ** rng.uniform(0.2, 1.2) * gate(len(time), [(0.002, length - 0.002)])


def videogame(rng: Generator, seconds: int) -> Track:
    """Console chips of the 1980s: pulse, 4-bit triangle and held noise; jumps, coins, tunes."""
    track = np.zeros(seconds * RATE)
    waves = ["0.125", "0.25", "0.5", "triangle"]
    kinds = ["jump", "coin", "laser", "arpeggio", "note", "explosion"]
    favourites = rng.choice(kinds, 3)
    for second in occasions(rng, seconds, 0.15, rng.uniform(0.4, 1.2)):
        grain = blip(rng, rng.choice(favourites), rng.choice(waves))
        place(track, grain, second, rng.uniform(0.6, 1))
    if rng.random() < 0.5:
        root, beat = rng.uniform(220, 440), rng.uniform(0.1, 0.22)
        tune = root * 2 ** (rng.choice([0, 2, 4, 7, 9, 12], 8) / 12)
        step = (moments(seconds) / beat).astype(int)
        held = 1 - 0.7 * (moments(seconds) / beat % 1)
        turn = np.cumsum(tune[step % 8]) / RATE
        track += 0.4 * np.where(turn % 1 < 0.25, 1, -1) * held
        bass = np.cumsum(tune[step // 4 * 4 % 8] / 4) / RATE
        track += 0.6 * np.round(15 * np.abs(2 * (bass % 1) - 1)) / 7.5 - 0.6
    return track


def finished(sound: Sound) -> Sound:
    """The sound as trainers want it: mono float32 of exactly that length, no DC, peak 0.7."""

    def make(rng: Generator, seconds: int) -> Track:
        track = band(sound(rng, seconds), 20, None)
        return (track * (0.7 / (np.max(np.abs(track)) + 1e-12))).astype(np.float32)

    make.__doc__ = sound.__doc__
    return make


OWN_SOUNDS = (
    siren,
    alarm,
    engine,
    motorcycle,
    carhorn,
    trainhorn,
    airplane,
    vacuum,
    drill,
    noise,
    hum,
    dialtone,
    morse,
    videogame,
)
SOUNDS: dict[str, Sound] = {
    sound.__name__: finished(sound) for sound in (*OWN_SOUNDS, *nature.SOUNDS)
}
"""To train on and to be tested on."""
PLAIN: dict[str, Sound] = {"siren": finished(plain_siren)}
"""To train on only."""
