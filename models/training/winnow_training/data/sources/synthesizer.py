"""Synthesizers: random patches that play random melodies, by additive and FM synthesis.

A patch is a waveform with detuned copies, a filter that opens or closes with the note, a loudness
envelope and vibrato; or a pair of oscillators of which one turns the other's phase (J. Chowning,
JAES 1973). Partials beyond HIGHEST are left out, so that nothing folds back.
"""

import random
from dataclasses import dataclass

import numpy as np

from winnow_training.data.audio import RATE, Clip, shared
from winnow_training.data.sources.instruments import SECONDS, Note, Part, melody
from winnow_training.data.synthesis.primitives import Generator, Track, drift, lag, moments, phase

COUNT = 160
PART = Part([], [], 33, 90, 0.3)
HIGHEST = 0.47 * RATE
PARTIALS = 48
WAVES = {
    "saw": lambda k: 1 / k,
    "square": lambda k: (k % 2) / k,
    "triangle": lambda k: (k % 2) / k**2,
    "pulse": lambda k: np.abs(np.sin(0.7 * k)) / k,
    "organ": lambda k: np.isin(k, [1, 2, 3, 4, 6, 8]) / k**0.5,
    "sine": lambda k: (k == 1) * 1.0,
}


@dataclass
class Patch:
    """Times in seconds, pitches in semitones, the filter's corner in partials of the note."""

    wave: str
    is_fm: bool
    ratio: float
    depth: float
    copies: int
    detune: float
    attack: float
    decay: float
    sustain: float
    release: float
    corner: float
    sweep: float
    vibrato: float


def clips(share: float = 1.0) -> dict[str, dict[str, list[Clip]]]:
    """For training alone, `share` of them: what is held out is the sound fonts' programs."""
    made = []
    for number in range(shared({"train": COUNT}, share)["train"]):
        rng = np.random.default_rng([*f"synthesizer {number}".encode()])
        made.append(Clip(play(rng), "synthesised synthesizer", "own", "Winnow"))
    return {"synth": {"train": made}}


def play(rng: Generator) -> Track:
    """SECONDS of a random patch."""
    patch = random_patch(rng)
    track = np.zeros(SECONDS * RATE)
    for note in melody(PART, random.Random(int(rng.integers(2**32)))):
        sound = render(patch, note, rng)
        start = round(note.start * RATE)
        sound = sound[: len(track) - start]
        track[start : start + len(sound)] += (note.velocity / 127) ** 1.5 * sound
    return track * (drift(rng, len(track), 0.4, 0.5, 1) if rng.random() < 0.3 else 1)


def random_patch(rng: Generator) -> Patch:
    """Plucks, leads and pads, in equal shares."""
    kind = rng.choice(["pluck", "lead", "pad"])
    attack, decay, sustain, release = {
        "pluck": (0.003, rng.uniform(0.08, 0.6), rng.uniform(0, 0.2), 0.1),
        "lead": (rng.uniform(0.003, 0.05), rng.uniform(0.1, 0.8), rng.uniform(0.4, 1), 0.08),
        "pad": (rng.uniform(0.1, 0.7), 1.0, rng.uniform(0.7, 1), rng.uniform(0.3, 1.0)),
    }[kind]
    return Patch(
        wave=str(rng.choice(list(WAVES), p=[0.35, 0.2, 0.12, 0.18, 0.05, 0.1])),
        is_fm=rng.random() < 0.25,
        ratio=float(rng.choice([0.5, 1, 1, 2, 3, 1.41, 3.5])),
        depth=rng.uniform(0.5, 5),
        copies=int(rng.choice([1, 1, 2, 3])),
        detune=rng.uniform(0.03, 0.25),
        attack=attack,
        decay=decay,
        sustain=sustain,
        release=release,
        corner=np.exp(rng.uniform(np.log(1.5), np.log(40))),
        sweep=rng.uniform(-1, 2.5),
        vibrato=rng.choice([0, 0, rng.uniform(0.05, 0.4)]),
    )


def render(patch: Patch, note: Note, rng: Generator) -> Track:
    """A note, from its beginning to the end of its release."""
    time = moments(note.end - note.start + patch.release)
    held = np.minimum(time, note.end - note.start)
    loudness = np.minimum(1, held / patch.attack)
    after = np.maximum(0, held - patch.attack)
    loudness = loudness * (patch.sustain + (1 - patch.sustain) * np.exp(-after / patch.decay))
    loudness = loudness * np.exp(-(time - held) / (patch.release / 4))
    bend = patch.vibrato * np.sin(2 * np.pi * 5.5 * time) * np.minimum(1, time / 0.4)
    sound = np.zeros(len(time))
    for _ in range(patch.copies):
        offset = patch.detune * rng.uniform(-1, 1) if patch.copies > 1 else 0
        hertz = 440 * 2 ** ((note.pitch - 69 + offset + bend) / 12)
        angle = phase(hertz) + rng.uniform(0, 2 * np.pi)
        sound += (modulated if patch.is_fm else filtered)(patch, angle, hertz.max(), after)
    return lag(loudness, 0.002) * sound


def filtered(patch: Patch, angle: Track, hertz: float, after: Track) -> Track:
    """The waveform's partials through a low-pass of four poles, whose corner falls or rises."""
    corner = patch.corner * 2 ** (patch.sweep * np.exp(-after / patch.decay))
    weights = WAVES[patch.wave](np.arange(1, PARTIALS + 1))
    sound = np.zeros(len(angle))
    for number, weight in enumerate(weights, 1):
        if weight > 1e-3 and number * hertz < HIGHEST:
            sound += weight / (1 + (number / corner) ** 4) * np.sin(number * angle)
    return sound


def modulated(patch: Patch, angle: Track, hertz: float, after: Track) -> Track:
    """One oscillator by another, less and less of it as the note goes on, within the band that
    Carson's rule gives it."""
    room = (HIGHEST / hertz - 1) / patch.ratio - 1
    depth = min(patch.depth, max(0, room)) * (0.2 + 0.8 * np.exp(-after / patch.decay))
    return np.sin(angle + depth * np.sin(patch.ratio * angle))
