"""Cases to evaluate on: mixtures of two sources at 0 dB (and some of more), with prompts that were
held out of training. A seed fixes all of them.
"""

import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from winnow_training.data.audio import RATE, RECORDINGS
from winnow_training.data.mixtures import (
    CONFUSABLE,
    GROUPS,
    MELODIC,
    MIXTURE_RMS,
    REAL,
    SAMPLES,
    UNSURE,
    WORDS,
    Bank,
    BankClip,
    decibels,
    level,
    pick_band,
    read_notes,
)

SEED = 7
COMMON = "piano organ aguitar eguitar bass strings trumpet sax flute kit".split()
"""Instruments that the first weights were trained on, by which the goal for instruments was set."""
SPEECH = ["woman", "man"]
RECORDED_SAMPLES = 5 * RATE
RECORDED_CASES = 60
"""Per kind of mixture of real recordings."""


@dataclass
class Case:
    """`target` is None where the prompt names what is not there."""

    name: str
    prompt: str
    embedding: np.ndarray
    mixture: np.ndarray
    target: np.ndarray | None


class Maker:
    """Cases of `samples` from the clips of a bank, in an order that the seed decides."""

    def __init__(self, bank: Bank, samples: int = SAMPLES):
        self.bank, self.samples = bank, samples
        self.rng = np.random.default_rng(SEED)
        self.others = [
            name for name in self.bank.names if name not in {*REAL, *MELODIC, *SPEECH, "kit"}
        ]

    def pick(self, names, apart_from=()):
        """One of `names` that is not confusable with any of `apart_from`."""
        alike = set(apart_from).union(*(pair for pair in CONFUSABLE if pair & set(apart_from)))
        return str(self.rng.choice([name for name in names if name not in alike]))

    def clip(self, name, bank=None):
        return (bank or self.bank).clip(name, self.rng, False, self.samples)

    def spoken(self):
        """A prompt for a voice, and the voice."""
        name = self.pick(SPEECH)
        return self.pick([name, "speech"]), self.clip(name)

    def band(self):
        return self.ensemble(pick_band(self.bank, self.rng), 3)

    def ensemble(self, names, reach):
        """Clips of all of `names`, each up to `reach` dB louder or softer."""
        return sum(self.clip(name) * decibels(self.rng.uniform(-reach, reach)) for name in names)

    def case(self, key, target, company, louder=0.0):
        """`target` None: nothing of the mixture is `key`; else `louder` than the company, in dB."""
        rows = self.bank.embeddings[key]
        index = self.rng.integers(len(rows))
        other = level(company)
        sound = 0 if target is None else level(target) * np.float32(decibels(louder))
        mixture = sound + other
        scale = MIXTURE_RMS / np.sqrt((mixture**2).mean())
        truth = None if target is None else sound * np.float32(scale)
        return Case(
            key,
            WORDS[key]["held_out"][index],
            rows[index],
            (mixture * scale).astype(np.float32),
            truth,
        )

    def pair(self, names, company):
        name = self.pick(names)
        other = self.pick(company, [name])
        return self.case(name, self.clip(name), self.clip(other))


def untrained(cache: Path, name: str, clips: list[BankClip]) -> list[BankClip]:
    """An instrument's clips by programs that play no clip that was trained on."""
    trained = {program(clip["origin"]) for clip in read_notes(cache, "train", name)["clips"]}
    return [clip for clip in clips if program(clip.origin) not in trained]


def program(origin: str) -> str:
    """As instruments.py writes it, whatever the sound font."""
    return origin.rpartition(", ")[2]


def test_cases(cache: Path, split: str = "test") -> dict[str, list[Case]]:
    """Category to its cases; without ESC-10 there are none of real sounds."""
    m = Maker(Bank(cache, split, "held_out"))
    new = copy.copy(m.bank)
    new.clips = {name: untrained(cache, name, m.bank.clips[name]) for name in MELODIC}
    real = [name for name in REAL if name in m.bank.names]
    made = {
        "real x real": [m.pair([name], real) for name in real for _ in range(6)],
        "speech in real": [m.case(*m.spoken(), m.clip(m.pick(real))) for _ in range(40) if real],
        "real in speech": [m.pair([name], SPEECH) for name in real for _ in range(4)],
        "instrument x instrument": [m.pair([name], MELODIC) for name in MELODIC for _ in range(4)],
        "speech in music": [m.case(*m.spoken(), m.band()) for _ in range(40)],
        "music in speech": [m.case("music", m.band(), m.spoken()[1]) for _ in range(30)],
        "woman x man": [
            m.pair([name], [other]) for name, other in (SPEECH, SPEECH[::-1]) for _ in range(20)
        ],
        "other x any": [m.pair([name], m.bank.names) for name in m.others for _ in range(2)],
    }
    made["absent"] = [absent_case(m) for _ in range(60)]
    made["singing in music"] = [m.case("singing", m.clip("singing"), m.band()) for _ in range(30)]
    made["new program x instrument"] = [
        m.case(name, m.clip(name, new), m.clip(m.pick(MELODIC, [name])))
        for name in MELODIC
        if new.clips[name]
        for _ in range(4)
    ]
    made["common instruments"] = [m.pair([name], COMMON) for name in COMMON for _ in range(5)]
    made["one of 3 or 4, ±10 dB"] = [one_of_several(m) for _ in range(80)]
    return {category: cases for category, cases in made.items() if cases}


def recorded_cases(cache: Path) -> dict[str, list[Case]]:
    """As `test_cases`, of real recordings; none where the cache has no banks of them."""
    if not (cache / RECORDINGS).is_dir():
        return {}
    m = Maker(Bank(cache, "test", "held_out", is_recorded=True), RECORDED_SAMPLES)
    played = [name for name in m.bank.names if name in MELODIC]
    music = GROUPS["music"] | UNSURE["music"]
    voices = GROUPS["speech"] | UNSURE["speech"]
    sounds = [name for name in m.bank.names if name not in music | voices]
    pitched = [name for name in played if name not in {"congas", "tambourine", "timpani"}]
    no_drums = [name for name in played if name not in UNSURE["drums"]]

    def each(names, company):
        """Every one of `names` as the target, in turn, until there are cases enough."""
        return [m.pair([names[number % len(names)]], company) for number in range(RECORDED_CASES)]

    turns = range(RECORDED_CASES)
    made = {
        "speech in everyday sounds": [m.case(*m.spoken(), m.clip(m.pick(sounds))) for _ in turns],
        "everyday sounds in speech": each(sounds, SPEECH),
        "speech in an instrument": [m.case(*m.spoken(), m.clip(m.pick(played))) for _ in turns],
        "an instrument in speech": each(played, SPEECH),
        "woman x man": each(["woman"], ["man"]),
        "man x woman": each(["man"], ["woman"]),
        "instrument x instrument": each(played, played) + each(played, played),
        "pitched x pitched instrument": each(pitched, pitched) + each(pitched, pitched),
        "drums from an instrument": [
            m.case("drums", m.clip("kit"), m.clip(m.pick(no_drums)))
            for _ in turns
            if "kit" in m.bank.names
        ],
        "absent": [absent_case(m) for _ in [*turns, *turns]],
    }
    if "child" in m.bank.names:
        made["child x woman or man"] = each(["child"], SPEECH)
    return {f"recorded: {category}": cases for category, cases in made.items() if cases}


def absent_case(m: Maker) -> Case:
    first = m.pick(m.bank.names)
    second = m.pick(m.bank.names, [first])
    key = m.pick(m.bank.names, [first, second])
    return m.case(key, None, m.clip(first) + m.clip(second))


def one_of_several(m: Maker) -> Case:
    """A sound among two or three others that are about as loud as each other."""
    names = [m.pick(m.bank.names)]
    for _ in range(m.rng.integers(2, 4)):
        names.append(m.pick(m.bank.names, names))
    others = m.ensemble(names[1:], 5)
    return m.case(names[0], m.clip(names[0]), others, m.rng.uniform(-10, 10))
