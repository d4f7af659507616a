"""Mixtures made on the fly: sources from the banks, prompts for them, and what is true of each.

Every array is float32. N samples of a mixture, T tokens of TOKEN_SAMPLES, Q prompts a mixture.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.fft

from winnow_training.data.audio import RATE, RECORDINGS, high_pass, high_pass_gains
from winnow_training.data.phrasings import OTHER, load_phrasings
from winnow_training.data.rooms import microphone, room
from winnow_training.data.sources import esc10

SAMPLES = 131072
"""4.096 s: 257 frames of the network, of which it is trained on 256."""
TOKEN_SAMPLES = 1024
TOKENS = SAMPLES // TOKEN_SAMPLES
MIXTURE_RMS = 0.1
KEEPS = 0.02
"""The least share of a clip's energy: a gate or a fade that leaves less is none."""
PHRASINGS = load_phrasings()
WORDS = PHRASINGS["classes"] | PHRASINGS["groups"]
"""By name, in the order of the network's names."""
PLACE = {name: place for place, name in enumerate(WORDS)}
GROUPS = {name: set(group["members"]) for name, group in PHRASINGS["groups"].items()}
UNSURE = {name: set(group.get("unsure", [])) for name, group in PHRASINGS["groups"].items()}
"""Classes that a group's words may or may not mean: the group is not asked of what holds them."""
CONFUSABLE = [set(pair) for pair in PHRASINGS["confusable"]]

REAL = sorted(esc10.CLASSES.values())
SPEECH = ["woman", "man", "child", "whisper"]
STEADY = {"chainsaw", "fire", "helicopter", "rain", "sea"}
"""Recordings that sound as true backwards."""
SPEED = 0.3
"""How much faster or slower a clip may be, as a logarithm …"""
SPEEDS = {**dict.fromkeys(SPEECH, 0.13), **dict.fromkeys(REAL, 0.5)}
"""… without making a man of a woman, and more where there are few recordings."""
MELODIC = sorted(GROUPS["music"] - GROUPS["drums"])
WEIGHTS = {
    "woman": 15.0,
    "man": 15.0,
    "singing": 4.0,
    "crowd": 0.7,
    "kit": 1.0,
    "siren": 0.7,
    **dict.fromkeys(REAL, 4.4),
    **dict.fromkeys(MELODIC, 1.3),
}
"""How often a class is a source: what people ask for most, most."""
WEIGHT_OTHERS = 0.5
TWO_RECORDINGS = 0.6
"""So often an everyday sound is made of two recordings, or it would be known by its recording."""
RECORDED, RECORDED_ENOUGH = 0.7, 24
"""So often a clip is a real recording, or of notes that are, where the class has enough of them;
of a class that has fewer less often, or it would be known by its recordings."""
MARGIN, DRAWN = 12288, 147456
"""MARGIN drawn samples come before the mixture's. A product of spectra wraps its end around onto
them. DRAWN is 2^14 · 9, which transforms fast."""
PLACES = np.arange(2.0 * DRAWN)
HIGH_PASSED = high_pass_gains(DRAWN)
LOG_FREQUENCY = np.log2(np.linspace(0, 511, len(HIGH_PASSED), dtype=np.float32) + 1) / 9
TONES = np.maximum(0, 1 - np.abs(6 * LOG_FREQUENCY - np.arange(7, dtype=np.float32)[:, None]))
"""[places, frequencies]: how much of each place's gain a frequency has."""
BAND = "band"
"""Two or three instruments as one source, which is asked for as music."""
SOURCE_WEIGHTS = {
    **WEIGHTS,
    BAND: 10.0,
    OTHER: 2.0,
    **{name: words["weight"] for name, words in PHRASINGS["classes"].items() if "weight" in words},
}
"""phrasings.json may set a class's, so that an operator's own sounds are learnt soon."""
VOICES = ["woman", "man", "child"]
ALIKE = [VOICES, MELODIC]
"""Families whose members are the hardest to separate from each other."""
FAMILIES = [REAL, *ALIKE, ["singing", BAND]]
COUNTS = {1: 0.04, 2: 0.74, 3: 0.16, 4: 0.06}
"""Shares by number of sources. One alone teaches to open, and what is not there."""
REACHES = {5: 0.6, 10: 0.32, 15: 0.08}
"""How much louder or softer than the first another source may be, in dB."""
BANDS = {"whole": 0.66, "telephone": 0.12, "wide": 0.08, "lossy": 0.06, "any": 0.08}
"""How often a mixture and its targets have a telephone's band, a 16 kHz rate's or another."""
RUMBLES, CLIPPED = 0.04, 0.04
HERTZ = np.maximum(1, np.linspace(0, RATE / 2, SAMPLES // 2 + 1, dtype=np.float32))
"""Frequencies of a mixture's spectrum, 1 at least."""
SAME_FAMILY = 0.35
ABSENT = 0.25
ALL = 0.05
"""Share of groups that mean everything in a mixture that are asked for: they teach to open."""


@dataclass
class Query:
    """A prompt for a mixture and its truth."""

    embedding: np.ndarray
    target: np.ndarray
    is_absent: float
    activity: np.ndarray
    """[T], 1 where the target sounds."""
    spans: np.ndarray
    """[T, 2]: sounds here, does not sound here; both 0: unknown."""
    asked: int
    """The class or group, by its place in WORDS."""


@dataclass
class BankClip:
    """A clip of a bank: from where to where, how loud and whence."""

    start: int
    end: int
    power: float
    origin: str


class Bank:
    """The clips of one split and the embeddings of prompts that were trained or held out: those of
    `cache`, or of the banks of real recordings that it has."""

    def __init__(self, cache: Path, split: str, words: str, is_recorded: bool = False):
        folder = cache / RECORDINGS if is_recorded else cache
        paths = {name: folder / f"{split}-{name}.npy" for name in [*PHRASINGS["classes"], OTHER]}
        paths = {name: path for name, path in paths.items() if path.exists()}
        self.names = [name for name in paths if name != OTHER]
        self.samples = {name: np.load(path, mmap_mode="r") for name, path in paths.items()}
        self.clips = {name: self._clips(name, read_notes(folder, split, name)) for name in paths}
        self.recorded = None
        """Bank of real recordings, of which RECORDED of the clips are."""
        text = np.load(cache / "text.npz")
        self.embeddings = {
            key.split("/")[1]: text[key] for key in text.files if key.startswith(f"{words}/")
        }
        self.groups = find_groups(self.names)

    def _clips(self, name: str, notes) -> list[BankClip]:
        offsets, samples = notes["offsets"], self.samples[name]
        return [
            BankClip(
                start,
                end,
                float((samples[start:end].astype(np.float32) ** 2).mean()),
                clip["origin"],
            )
            for start, end, clip in zip(offsets, offsets[1:], notes["clips"])
        ]

    def has(self, name: str) -> bool:
        """Returns whether clips of it are there: training may begin with a part of a cache."""
        return name in self.clips or bool(self.recorded and self.recorded.has(name))

    def recorded_share(self, name: str) -> float:
        """Returns how often a clip of the class is a real recording: always if it has no others."""
        if not self.recorded or name not in self.recorded.clips:
            return 0
        if name not in self.clips:
            return 1
        return RECORDED * min(1, len(self.recorded.clips[name]) / RECORDED_ENOUGH)

    def weight(self, name: str) -> float:
        """How often the class is a source: oftener where real recordings take turns from what
        the recipe makes."""
        return SOURCE_WEIGHTS.get(name, WEIGHT_OTHERS) * (1 + self.recorded_share(name))

    def clip(self, name: str, rng, augmented: bool = True, samples: int = SAMPLES) -> np.ndarray:
        """[N] with an RMS of 1, from a clip of the class that is not silent, through `high_pass`.
        Those that are augmented have SAMPLES, others `samples`."""
        if self.recorded and rng.random() < self.recorded_share(name):
            return self.recorded.clip(name, rng, augmented, samples)
        if not augmented:
            return level(high_pass(self.cut(name, rng, samples + 2)[:samples]))
        reach = SPEEDS.get(name, SPEED)
        speed = math.exp(rng.uniform(-reach, reach)) if rng.random() < 0.6 else 1.0
        before, length, whole = (int(count * speed) for count in (MARGIN, SAMPLES, DRAWN))
        cut = self.cut(name, rng, length, before, whole + 2 - before - length)
        if speed != 1.0:
            cut = np.interp(speed * PLACES[:DRAWN], PLACES[: len(cut)], cut).astype(np.float32)
        cut = cut[:DRAWN]
        if name in STEADY and rng.random() < 0.4:
            cut = cut[::-1]
        return level(augment(cut, rng, swells=name in REAL))

    def cut(self, name: str, rng, length: int, before: int = 0, after: int = 0) -> np.ndarray:
        """[before + length + after] from a clip of the class, zero beyond its ends; what is
        between `before` and `after` is not silent."""
        clips = self.clips[name]
        while True:
            clip = clips[rng.integers(len(clips))]
            size = clip.end - clip.start
            lead = int(rng.integers(0, length - size + 1)) if size < length else 0
            start = int(rng.integers(0, max(size, length) - length + 1)) - lead - before
            end = start + before + length + after
            inside = slice(max(0, start), min(size, end))
            cut = np.zeros(end - start, np.float32)
            cut[inside.start - start : inside.stop - start] = self.samples[name][
                clip.start + inside.start : clip.start + inside.stop
            ]
            enough = 0.15 * clip.power * min(size, length)
            if (cut[before : before + length] ** 2).sum() > enough:
                return cut / 32768


def training_bank(cache: Path) -> Bank:
    """All that may be trained on: the clips of the recipe's making and real recordings."""
    bank = Bank(cache, "train", "train")
    if (cache / RECORDINGS).is_dir():
        bank.recorded = Bank(cache, "train", "train", is_recorded=True)
        names = {*bank.names, *bank.recorded.names}
        bank.names = [name for name in PHRASINGS["classes"] if name in names]
        bank.groups = find_groups(bank.names)
    return bank


def find_groups(names: list[str]) -> dict[str, set[str]]:
    """Returns the members of each group that are among `names`; groups without any are left out."""
    groups = {name: members & set(names) for name, members in GROUPS.items()}
    return {name: members for name, members in groups.items() if members}


def read_notes(cache: Path, split: str, name: str):
    """A bank's notes: where its clips begin and end, and whose each is."""
    return json.loads((cache / f"{split}-{name}.json").read_text())


def level(samples: np.ndarray) -> np.ndarray:
    return (samples / (np.sqrt((samples**2).mean()) + 1e-6)).astype(np.float32)


def augment(cut: np.ndarray, rng, swells: bool) -> np.ndarray:
    """[N] of a cut [DRAWN] in another tone, room, microphone or time. Tone, room and `high_pass`
    are one product of spectra."""
    spectrum = scipy.fft.rfft(cut)
    spectrum *= HIGH_PASSED * equaliser(rng) if rng.random() < 0.75 else HIGH_PASSED
    if rng.random() < 0.25:
        spectrum *= scipy.fft.rfft(room(rng), DRAWN)
    samples = scipy.fft.irfft(spectrum, DRAWN)[MARGIN : MARGIN + SAMPLES]
    if rng.random() < 0.5:
        samples = -samples
    if swells and rng.random() < 0.4:
        samples = samples * swell(rng)
    if rng.random() < 0.06:
        samples = microphone(rng, samples)
    if rng.random() < 0.25:
        gated = samples * gate(rng)
        # Between the sounds of a clip there may be nothing at all.
        if (gated**2).mean() > KEEPS * (samples**2).mean():
            samples = gated
    return samples


def equaliser(rng) -> np.ndarray:
    """Gains up to 10 dB up or down at seven places, and sometimes nothing above a frequency."""
    gains = rng.uniform(-10, 10, len(TONES)).astype(np.float32) @ TONES
    if rng.random() < 0.2:
        frequency = np.linspace(0, 1, len(gains), dtype=np.float32)
        gains -= 60 * np.clip((frequency - np.float32(rng.uniform(0.2, 0.8))) * 8, 0, 1)
    return np.exp(gains * np.float32(math.log(10) / 20))


def gate(rng) -> np.ndarray:
    """[N] gains, 1 in one stretch of a second or more, 0 elsewhere, with short ramps."""
    length = int(rng.uniform(0.25, 0.75) * SAMPLES)
    start = int(rng.integers(-length // 4, SAMPLES - 3 * length // 4))
    ramp = int(rng.uniform(0.005, 0.2) * RATE)
    at = PLACES[:SAMPLES]
    rise, fall = (at - start) / ramp, (start + length - at) / ramp
    return np.clip(np.minimum(rise, fall), 0, 1).astype(np.float32)


def swell(rng) -> np.ndarray:
    """[N] gains that wander by up to 8 dB either way, as when what sounds turns or moves."""
    points = rng.uniform(-8, 8, int(rng.integers(3, 12)))
    places = np.linspace(0, SAMPLES - 1, len(points))
    return decibels(np.interp(PLACES[:SAMPLES], places, points).astype(np.float32))


def choose_sources(bank: Bank, rng, alike: float = 0) -> list[str]:
    """One to four names of sources that a listener can tell apart; at a share of `alike` two voices
    or two pitched instruments, which are the hardest to separate."""
    if alike and rng.random() < alike:
        return choose_alike(bank, rng)
    names = [*bank.names, BAND, *([OTHER] if bank.has(OTHER) else [])]
    count = rng.choice([*COUNTS], p=[*COUNTS.values()])
    while True:
        chosen = draw_names(bank, names, count, rng)
        families = [family for family in FAMILIES if chosen[0] in family]
        if count > 1 and families and rng.random() < SAME_FAMILY:
            chosen[1] = str(rng.choice([name for name in families[0] if name in names]))
        if all(name == OTHER for name in chosen) or len(set(chosen)) < count:
            continue
        if BAND in chosen and (GROUPS["music"] | UNSURE["music"] - {"singing"}) & set(chosen):
            continue
        if not any(pair <= set(chosen) for pair in CONFUSABLE):
            return chosen


def choose_alike(bank: Bank, rng) -> list[str]:
    """Two voices or two pitched instruments, each as often as the class is a source."""
    family = ALIKE[rng.integers(len(ALIKE))]
    names = [name for name in family if name in bank.names]
    while True:
        chosen = draw_names(bank, names, 2, rng)
        if not any(pair <= set(chosen) for pair in CONFUSABLE):
            return chosen


def draw_names(bank: Bank, names: list[str], count: int, rng) -> list[str]:
    """`count` of the names, each as often as it is a source."""
    weights = np.array([bank.weight(name) for name in names])
    return [
        str(name) for name in rng.choice(names, count, replace=False, p=weights / weights.sum())
    ]


def make_source(bank: Bank, name: str, rng) -> tuple[np.ndarray, set[str]]:
    """A source [N] with an RMS of 1 and the classes that are in it."""
    if name == BAND:
        players = pick_band(bank, rng)
        parts = [bank.clip(player, rng) * decibels(rng.uniform(-4, 4)) for player in players]
        return level(sum(parts)), set(players)
    samples = bank.clip(name, rng)
    if name in REAL and rng.random() < TWO_RECORDINGS:
        samples = together(samples, bank.clip(name, rng) * decibels(rng.uniform(-6, 3)), rng)
    return samples, {name}


def together(first: np.ndarray, second: np.ndarray, rng) -> np.ndarray:
    """Two recordings of a class as one source, at once or one after the other."""
    if rng.random() < 0.4:
        return level(first + second)
    ramp = rng.uniform(0.01, 0.3) * RATE
    share = (PLACES[:SAMPLES] - rng.uniform(0.2, 0.8) * SAMPLES) / ramp
    fade = np.clip(share, 0, 1).astype(np.float32)
    joined = first * (1 - fade) + second * fade
    # Each of two barks may be in the part that is faded; silence has no gradient.
    if (joined**2).mean() < KEEPS:
        return level(first + second)
    return level(joined)


def pick_band(bank: Bank, rng) -> list[str]:
    players = [name for name in [*MELODIC, "kit"] if name in bank.names]
    return sorted(str(name) for name in rng.choice(players, rng.integers(2, 4), replace=False))


def decibels(value):
    """As a factor of amplitudes: of a number, or of an array."""
    return 10 ** (value / 20)


def example(bank: Bank, rng, queries: int = 2, alike: float = 0) -> tuple[np.ndarray, list[Query]]:
    """A mixture [N] and its queries, of different sources where there are enough."""
    names = choose_sources(bank, rng, alike)
    made = [make_source(bank, name, rng) for name in names]
    reach = rng.choice([*REACHES], p=[*REACHES.values()])
    sources = [
        samples * decibels(rng.uniform(-reach, reach) if index else 0)
        for index, (samples, _) in enumerate(made)
    ]
    sources = limit_band(sources, rng)
    mixture = sum(sources)
    if rng.random() < RUMBLES:
        mixture = mixture + make_rumble(rng) * decibels(rng.uniform(-20, -3))
    if rng.random() < CLIPPED:
        most = np.abs(mixture).max() * decibels(rng.uniform(-9, -2))
        mixture = np.clip(mixture, -most, most)
    scale = MIXTURE_RMS / (np.sqrt((mixture**2).mean()) + 1e-9)
    mixture, sources = mixture * scale, [samples * scale for samples in sources]
    classes = [members for _, members in made]
    # Music may or may not mean the singer over a band too: then a band is not asked for.
    unnamed = {OTHER, BAND} if UNSURE["music"] & set(names) else {OTHER}
    asked = [index for index in rng.permutation(len(names)) if names[index] not in unnamed]
    return mixture, [
        make_query(bank, rng, sources, classes, names, asked[number % len(asked)])
        for number in range(queries)
    ]


def limit_band(sources: list[np.ndarray], rng) -> list[np.ndarray]:
    """Limits all sources to a telephone's band, a 16 kHz rate's, a lossy file's or any."""
    kind = rng.choice([*BANDS], p=[*BANDS.values()])
    if kind == "whole":
        return sources
    if kind == "telephone":
        low, high, per_octave = rng.uniform(200, 400), rng.uniform(3000, 3800), rng.uniform(12, 48)
    else:
        low, per_octave = 0.0, 200.0
        high = {
            "wide": rng.uniform(6800, 8000),
            "lossy": rng.uniform(9500, 15500),
            "any": rng.uniform(1600, 11200),
        }[kind]
    below = np.maximum(0, np.log2(max(low, 1) / HERTZ))
    above = np.maximum(0, np.log2(HERTZ / high))
    gains = decibels(np.maximum(-80, -per_octave * below - 200 * above))
    sent = [scipy.fft.irfft(scipy.fft.rfft(samples) * gains, SAMPLES) for samples in sources]
    # A telephone carries nothing of a kick drum; silence has no gradient.
    is_heard = all((new**2).mean() > KEEPS * (old**2).mean() for new, old in zip(sent, sources))
    return sent if is_heard else sources


def make_rumble(rng) -> np.ndarray:
    """Returns [N] with an RMS of 1, from 20 to at most 100 Hz: wind, traffic or a shaken table."""
    spectrum = np.zeros(SAMPLES // 2 + 1, np.complex64)
    band = (HERTZ > 20) & (HERTZ < rng.uniform(40, 100))
    noise = rng.standard_normal((2, band.sum()), np.float32)
    spectrum[band] = (noise[0] + 1j * noise[1]) / HERTZ[band]
    return level(scipy.fft.irfft(spectrum, SAMPLES))


def make_query(bank: Bank, rng, sources, classes, names, index: int) -> Query:
    """For the source at `index`, by its class or a group it is in; or for what is not there."""
    everything = set().union(*classes)
    if rng.random() < ABSENT:
        key = absent_key(bank, rng, everything)
        nothing = np.zeros(SAMPLES, np.float32)
        activity = np.zeros(TOKENS, np.float32)
        return Query(prompt(bank, key, rng), nothing, 1.0, activity, no_spans(), PLACE[key])
    key = "music" if names[index] == BAND else names[index]
    groups = [
        name
        for name, members in bank.groups.items()
        if names[index] in members
        and not UNSURE[name] & everything
        and (not everything <= members or rng.random() < ALL)
    ]
    if groups and rng.random() < 0.25:
        key = str(rng.choice(groups))
    covered = bank.groups.get(key, {key})
    target = sum(samples for samples, members in zip(sources, classes) if members <= covered)
    activity = active_tokens(target)
    spans = hint(activity, rng) if rng.random() < 0.25 else no_spans()
    return Query(prompt(bank, key, rng), target, 0.0, activity, spans, PLACE[key])


def absent_key(bank: Bank, rng, present: set[str]) -> str:
    """A class or group that nothing in the mixture is or sounds like; often of its family."""
    alike = present.union(*(pair for pair in CONFUSABLE if pair & present))
    keys = [name for name in bank.names if name not in alike]
    relatives = [
        name
        for name in keys
        if any(name in family and present & set(family) for family in FAMILIES)
    ]
    if relatives and rng.random() < 0.5:
        return str(rng.choice(relatives))
    groups = [name for name, members in bank.groups.items() if not (members | UNSURE[name]) & alike]
    return str(rng.choice(keys + groups))


def prompt(bank: Bank, key: str, rng) -> np.ndarray:
    """[384]: a phrasing's embedding, sometimes on the way to another's, always a little off."""
    rows = bank.embeddings[key]
    plain = len(WORDS[key]["train"])
    vector = rows[rng.integers(plain if rng.random() < 0.5 else len(rows))]
    if rng.random() < 0.3:
        share = rng.random()
        vector = share * vector + (1 - share) * rows[rng.integers(len(rows))]
    vector = vector + rng.normal(0, rng.uniform(0.005, 0.03), len(vector))
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def active_tokens(target: np.ndarray) -> np.ndarray:
    """[T]: 1 where the target is within 35 dB of its loudest token."""
    powers = (target.reshape(TOKENS, TOKEN_SAMPLES) ** 2).mean(1)
    return (powers > max(powers.max() * 10**-3.5, 1e-9)).astype(np.float32)


def no_spans() -> np.ndarray:
    return np.zeros((TOKENS, 2), np.float32)


def hint(activity: np.ndarray, rng) -> np.ndarray:
    """[T, 2]: spans as people give them: all of where it sounds, or some of where it doesn't."""
    spans = no_spans()
    if rng.random() < 0.6:
        reach = int(rng.integers(0, 6))
        near = np.convolve(activity, np.ones(2 * reach + 1), "same") > 0
        spans[near, 0], spans[~near, 1] = 1, 1
        return spans
    edges = np.flatnonzero(np.diff(activity, prepend=1, append=1))
    for start, end in edges.reshape(-1, 2):
        if rng.random() < 0.7:
            spans[start:end, 1] = 1
    return spans


def batch(
    bank: Bank, rng, count: int, queries: int = 2, alike: float = 0
) -> tuple[np.ndarray, ...]:
    """mixtures [B, N], targets [B, Q, N], embeddings [B, Q, 384], absent [B, Q],
    activity [B, Q, T], spans [B, Q, T, 2], asked [B, Q]."""
    made = [example(bank, rng, queries, alike) for _ in range(count)]
    fields = ("target", "embedding", "is_absent", "activity", "spans", "asked")
    columns = [
        np.stack([[getattr(query, field) for query in asked] for _, asked in made])
        for field in fields
    ]
    return tuple(array.astype(np.float32) for array in (np.stack([m for m, _ in made]), *columns))
