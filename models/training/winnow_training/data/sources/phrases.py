"""Phrases played on recorded notes: a sampler that plays random scores.

Every sound is [N] float32 at RATE; pitches are in semitones, 69 at 440 Hz.
"""

import math
import random
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly

from winnow_training.data.audio import RATE
from winnow_training.data.sources.instruments import (
    DRUMS,
    MELODIC,
    SECONDS,
    Note,
    Part,
    beats,
    groove,
    melody,
)

SHIFT_MAX = 3.5
"""How far a note may be transposed, in semitones: further, and the instrument is another."""
PITCHED_MIN = 4
"""With fewer notes of known pitch there is no melody."""
CHORDS_MIN = 0.15
"""Who plays fewer chords in sound fonts plays none on a real instrument."""
RINGS = {
    "piano": 0.3,
    "aguitar": 0.5,
    "eguitar": 0.4,
    "bass": 0.1,
    "banjo": 0.7,
    "sitar": 0.7,
    "mallets": 0.8,
    "steelpan": 0.8,
}
"""How often a phrase's notes ring on after their end; those of other instruments are damped."""
RELEASE_SECONDS, ATTACK_SECONDS = (0.04, 0.15), 0.002
OTHER_WAY = 0.2
"""Share of notes that differ in phrases in which the articulation changes."""
EVENTS = {"footsteps": (0.3, 0.8, 0.08), "typing": (0.07, 0.35, 0.5), "bell": (1.0, 3.0, 0.3)}
"""Seconds between events, from and to, and by which share each differs."""
NAMES = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}
LOUD_SECONDS = 0.1


@dataclass
class Sample:
    """A recorded note or hit."""

    sound: np.ndarray
    pitch: float | None
    path: Path
    way: str = field(init=False)
    """The articulation, as words of the file's name tell it."""
    loudness: float = field(init=False)
    """In dB, of the loudest LOUD_SECONDS."""

    def __post_init__(self):
        self.way = " ".join(re.findall(r"[a-z]{3,}", self.path.stem.lower()))
        length = round(LOUD_SECONDS * RATE)
        padded = np.pad(self.sound, (0, -len(self.sound) % length)).reshape(-1, length)
        self.loudness = 10 * math.log10((padded**2).mean(1).max() + 1e-9)


@dataclass
class Instrument:
    """The notes of one instrument, or one drum of a kit."""

    name: str
    samples: list[Sample]
    transposed: dict = field(default_factory=dict)

    def __post_init__(self):
        pitched = [sample for sample in self.samples if sample.pitch is not None]
        self.is_melodic = len(pitched) >= PITCHED_MIN and self.name not in {*DRUMS, *EVENTS}
        if self.is_melodic:
            self.samples = pitched
        self.loudness = np.array([sample.loudness for sample in self.samples])
        self.pitches = np.array([sample.pitch or 0 for sample in self.samples])
        ways = [sample.way for sample in self.samples]
        self.ways = {way: np.array([one == way for one in ways]) for way in sorted(set(ways))}

    def find(self, note: Note, way: np.ndarray, rng) -> int | None:
        """The sample nearest in pitch and loudness, among equals a random one; None: none is near.
        `way` [samples] tells which are of the articulation."""
        loudness = np.percentile(self.loudness[way], 100 * min(1, note.velocity / 127))
        far = 0.1 * np.abs(self.loudness - loudness) + rng.uniform(0, 1.5, len(self.samples))
        if self.is_melodic:
            away = np.abs(self.pitches - note.pitch)
            far = far + away + np.where(away > SHIFT_MAX, np.inf, 0)
        far = np.where(way, far, np.inf)
        index = int(far.argmin())
        return index if np.isfinite(far[index]) else None

    def sound(self, index: int, pitch: float) -> np.ndarray:
        """A sample, transposed to `pitch` as a tape would be if it is melodic."""
        steps = round(2 * (pitch - self.pitches[index])) / 2 if self.is_melodic else 0
        if steps == 0:
            return self.samples[index].sound
        key = index, steps
        if key not in self.transposed:
            ratio = Fraction(2 ** (-steps / 12)).limit_denominator(60)
            self.transposed[key] = resample_poly(
                self.samples[index].sound, ratio.numerator, ratio.denominator
            ).astype(np.float32)
        return self.transposed[key]


def pitch_of(name: str, hertz: str) -> float | None:
    """In semitones: the fundamental as it was measured, or else the name's, which may be off by
    octaves. If the name tells another pitch class than was measured, the name is right."""
    named = named_pitch(name)
    if not hertz:
        return named
    measured = 69 + 12 * math.log2(float(hertz) / 440)
    if named is None:
        return measured
    return named + 12 * round((measured - named) / 12)


def named_pitch(name: str) -> float | None:
    """Pitch of "Ab4" or "C#3"."""
    parts = re.fullmatch(r"([A-Ga-g])([#b]?)(-?\d)", name)
    if not parts:
        return None
    letter, sign, octave = parts.groups()
    return NAMES[letter.lower()] + {"": 0, "#": 1, "b": -1}[sign] + 12 * (int(octave) + 1)


def phrases(instrument: Instrument, rng, count: int) -> list[np.ndarray]:
    """`count` phrases of SECONDS."""
    return [phrase(instrument, rng) for _ in range(count)]


def phrase(instrument: Instrument, rng) -> np.ndarray:
    """A random score, played; another one if nothing of it can be."""
    while True:
        scored = score(instrument, rng)
        track = play(instrument, scored, rng)
        if np.abs(track).max() > 0:
            return track


def score(instrument: Instrument, rng) -> list[Note]:
    """A melody in the instrument's range with rests, or a rhythm."""
    notes_rng = random.Random(int(rng.integers(2**32)))
    if instrument.name in EVENTS:
        return events(*EVENTS[instrument.name], rng)
    if not instrument.is_melodic:
        return beats([0], notes_rng)
    part = MELODIC.get(instrument.name, Part([], [], 0, 0))
    chords = part.chords if part.chords >= CHORDS_MIN else 0.0
    low, high = instrument.pitches.min(), instrument.pitches.max()
    notes = melody(
        replace(part, low=math.floor(low), high=math.ceil(high), chords=chords), notes_rng
    )
    return with_rest(notes, rng) if rng.random() < 0.3 else notes


def with_rest(notes: list[Note], rng) -> list[Note]:
    """Nothing begins in a stretch of one to three seconds."""
    start, length = rng.uniform(0.5, SECONDS - 3), rng.uniform(1, 3)
    return [note for note in notes if not start < note.start < start + length]


def events(low: float, high: float, uneven: float, rng) -> list[Note]:
    """Steps, strokes or strikes, about evenly spaced by `low` to `high` seconds."""
    every, time, notes = rng.uniform(low, high), 0.02, []
    while time < SECONDS - 0.6:
        notes.append(Note(time, time + 0.1, 0, int(rng.integers(50, 120))))
        time += every * (1 + rng.uniform(-uneven, uneven))
    return notes


def play(instrument: Instrument, notes: list[Note], rng) -> np.ndarray:
    """SECONDS of `notes`, mostly in one articulation."""
    track = np.zeros(SECONDS * RATE, np.float32)
    ways = list(instrument.ways.values())
    shares = np.array([way.sum() for way in ways]) / len(instrument.samples)
    main = ways[rng.choice(len(ways), p=shares)]
    changes = OTHER_WAY if rng.random() < 0.5 else 0.0
    if not instrument.is_melodic and rng.random() < 0.5:
        main = np.ones(len(instrument.samples), bool)
    is_damped = instrument.is_melodic and rng.random() >= RINGS.get(instrument.name, 0.0)
    release = rng.uniform(*RELEASE_SECONDS)
    for note in notes:
        way = ways[rng.choice(len(ways), p=shares)] if rng.random() < changes else main
        index = instrument.find(note, way, rng)
        if index is not None:
            sound = instrument.sound(index, note.pitch)
            add(track, sound, note, release if is_damped else None)
    return track


def add(track: np.ndarray, sound: np.ndarray, note: Note, release: float | None):
    """Adds a note to `track`; damped within `release` seconds of its end, or to its very end."""
    start = round(note.start * RATE)
    sound = sound[: len(track) - start]
    if release is not None:
        sound = sound[: round((note.end - note.start + release) * RATE)]
    fade = min(len(sound), round((release or 0.02) * RATE))
    gains = np.ones(len(sound), np.float32)
    gains[len(sound) - fade :] = np.cos(np.linspace(0, np.pi / 2, fade)) ** 2
    rise = min(len(sound), round(ATTACK_SECONDS * RATE))
    gains[:rise] *= np.linspace(0, 1, rise, dtype=np.float32)
    # The samples have their own dynamics: the velocity adds half of what it does in a sound font.
    track[start : start + len(sound)] += (note.velocity / 127) ** 0.75 * gains * sound


def grooves(drums: dict[str, Instrument], rng, count: int) -> list[np.ndarray]:
    """`count` times a whole kit: each drum by its notes of General MIDI's pitches."""
    made = []
    for _ in range(count):
        notes = groove(random.Random(int(rng.integers(2**32))))
        parts = [
            play(drum, [note for note in notes if note.pitch in DRUMS[name]], rng)
            for name, drum in sorted(drums.items())
            if name in DRUMS
        ]
        made.append(np.sum(parts, 0))
    return made
