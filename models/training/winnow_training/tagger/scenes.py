"""Scenes to train on: mixtures of mel powers, and which classes sound in which step."""

from dataclasses import dataclass

import numpy as np

from winnow_training.data.mixtures import CONFUSABLE, GROUPS, REAL, RECORDED, RECORDED_ENOUGH
from winnow_training.data.phrasings import OTHER
from winnow_training.tagger.clips import CLASSES, Entry, Store, silence
from winnow_training.tagger.features import CENTRE, FLOOR, MELS, SCALE, STEP_FRAMES

STEPS = 16
"""8 s."""
FRAMES = STEPS * STEP_FRAMES
PLACE = {name: place for place, name in enumerate(CLASSES)}
COUNTS = {0: 0.02, 1: 0.18, 2: 0.35, 3: 0.25, 4: 0.13, 5: 0.07}
"""Shares by number of sources."""
WEIGHTS = {
    "woman": 3.0,
    "man": 3.0,
    "child": 2.0,
    "singing": 3.0,
    "piano": 2.0,
    "kit": 2.0,
    "crowd": 2.0,
    OTHER: 3.0,
}
"""How often a class is a source; all others 1."""
NOTCHED, NOTCH = 0.4, 1e-3
"""So often a few neighbouring bands of a scene are 30 dB softer: no class should hang on them."""
GATED = 0.45
"""So often a source sounds in a part of the scene only."""
SAME_FAMILY = 0.3
"""So often the second source is of a family of the first one's."""
FAMILIES = [
    *GROUPS.values(),
    *(
        set(names.split())
        for names in (
            "woman man child whisper singing laughter scream crowd baby",
            "chainsaw drill saw vacuum fan appliance engine airhiss",
            "phone dialtone doorbell bell siren alarm refereewhistle morse videogame whistle "
            "carhorn trainhorn",
            "clap applause footsteps knock door keys coins dishes chopping writing paper tape ball "
            "glass click typing clock creak",
            "wind rain sea stream noise hum airhiss fire thunder",
            "gunshot explosion thunder door",
        )
    ),
]
"""Groups, and kinds of sounds as the list of sounds has them."""
REACHES = {6: 0.5, 12: 0.35, 20: 0.15}
"""How much louder or softer than each other sources are, in dB."""
OWN_DB, OWN_UNSURE_DB = -30.0, -42.0
"""A class sounds in a step that is not softer than this against its source's loudest step …"""
REST_DB, REST_UNSURE_DB = -22.0, -32.0
"""… nor against everything else; between the two it is not said."""
AUDIBLE_DB = -72.0
"""A sound that is softer than this, at full scale, is not labelled."""
ALIKE_WEIGHT = 0.1
"""The weight, as negatives, of classes that nobody could tell from one that sounds."""
RECORDED_ALWAYS, RECORDED_FEW = 0.85, 4
"""Clips are real recordings this often where there are RECORDED_ENOUGH, and as often as RECORDED
where there are RECORDED_FEW."""
LEVELS_DB = (-55.0, -10.0)
"""RMS of a scene at full scale."""


GRAINS = np.random.default_rng(5).standard_gamma(3.0, (1 << 14, MELS), np.float32) / 3
"""[frames, MELS]: how the power of noise varies from frame to frame."""


def alike_matrix() -> np.ndarray:
    """[classes, classes], 1 where two classes are confusable."""
    matrix = np.zeros((len(CLASSES), len(CLASSES)), np.float32)
    for first, second in map(tuple, CONFUSABLE):
        matrix[PLACE[first], PLACE[second]] = matrix[PLACE[second], PLACE[first]] = 1
    return matrix


ALIKE = alike_matrix()


@dataclass
class Scene:
    features: np.ndarray
    """[FRAMES, MELS], as `features.log_mel` gives them."""
    labels: np.ndarray
    """[STEPS, classes], 1 where a class sounds."""
    weights: np.ndarray
    """[STEPS, classes], 0 where it is not said whether it does."""


class Mixer:
    """Makes scenes of a store's clips."""

    def __init__(self, store: Store, seed: int | list[int]):
        self.store, self.rng = store, np.random.default_rng(seed)
        self.names = [*store.names(), *([OTHER] if (OTHER, True) in store.sources else [])]
        weights = np.array([WEIGHTS.get(name, 1.0) for name in self.names])
        self.shares = weights / weights.sum()
        self.owners = {key: by_owner(entries) for key, entries in store.entries.items()}

    def batch(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """features, labels and weights of so many scenes."""
        scenes = [self.scene() for _ in range(count)]
        return tuple(
            np.stack([getattr(scene, part) for scene in scenes])
            for part in ("features", "labels", "weights")
        )

    def scene(self) -> Scene:
        rng = self.rng
        names = self.choose()
        parts = [self.source(name) for name in names]
        reach = rng.choice([*REACHES], p=[*REACHES.values()])
        gains = rng.uniform(-reach / 2, reach / 2, len(parts))
        parts = [part * 10 ** (gain / 10) for part, gain in zip(parts, gains)]
        total = self.noise() + sum(parts, np.zeros((FRAMES, MELS), np.float32))
        scale = 10 ** (rng.uniform(*LEVELS_DB) / 10) / max(total.sum(1).mean(), 1e-12)
        band = self.band() * np.float32(scale)
        labels, weights = label(names, [part * band for part in parts], total * band)
        features = (np.log(total * band + FLOOR) - CENTRE) / SCALE
        return Scene(features.astype(np.float32), labels, weights)

    def choose(self) -> list[str]:
        rng = self.rng
        count = min(len(self.names), rng.choice([*COUNTS], p=[*COUNTS.values()]))
        if count == 0:
            return []
        names = list(rng.choice(self.names, count, replace=False, p=self.shares))
        families = [family for family in FAMILIES if names[0] in family]
        if count > 1 and families and rng.random() < SAME_FAMILY:
            family = families[rng.integers(len(families))]
            others = [name for name in self.names if name in family and name not in names]
            if others:
                names[1] = str(rng.choice(others))
        return names

    def source(self, name: str) -> np.ndarray:
        """[FRAMES, MELS] powers of one or two clips of a class, whose loudest step has 1."""
        rng = self.rng
        clip = self.clip(name)
        if len(clip) < FRAMES:
            clip = self.repeated(name, clip)
        power = np.exp(self.placed(clip))
        if rng.random() < GATED:
            power *= gate(rng)[:, None]
        if rng.random() < 0.6:
            power *= tilt(rng)
        loudest = step_power(power).max()
        return power / max(loudest, 1e-9)

    def clip(self, name: str) -> np.ndarray:
        """[frames, MELS] log powers of a clip, of an owner who is as likely as any other."""
        rng, key = self.rng, self.key(name)
        owners = self.owners[key]
        entries = owners[rng.integers(len(owners))]
        entry: Entry = entries[rng.integers(len(entries))]
        variant = int(rng.integers(len(entry.spans)))
        return self.store.power(key, entry, variant)

    def key(self, name: str) -> str:
        """Real recordings or the recipe's making: recordings mostly, where there are enough. The
        recipe's making of ESC-10's classes is ESC-10, so there all owners are alike."""
        real, made = (self.store.sources.get((name, kind)) for kind in (True, False))
        if not real or not made:
            return real or made
        if name in REAL:
            share = len(self.owners[real]) / (len(self.owners[real]) + len(self.owners[made]))
        else:
            count = len(self.store.entries[real])
            often = RECORDED_ALWAYS * count / RECORDED_ENOUGH, RECORDED * count / RECORDED_FEW
            share = max(min(RECORDED_ALWAYS, often[0]), min(RECORDED, often[1]))
        return real if self.rng.random() < share else made

    def repeated(self, name: str, clip: np.ndarray) -> np.ndarray:
        """A short clip, often followed by itself or others of its class, after pauses or none."""
        rng = self.rng
        parts = [clip]
        while sum(map(len, parts)) < FRAMES and rng.random() < 0.6:
            if rng.random() < 0.6:
                parts.append(silence(int(rng.exponential(48))))
            parts.append(clip if rng.random() < 0.5 else self.clip(name))
        return np.concatenate(parts)

    def placed(self, clip: np.ndarray) -> np.ndarray:
        """[FRAMES, MELS]: a stretch of a long clip, or a short one anywhere."""
        rng = self.rng
        room = len(clip) - FRAMES
        if room >= 0:
            start = int(rng.integers(room + 1))
            return clip[start : start + FRAMES].astype(np.float32)
        # it may begin before the scene or end after it
        most = len(clip) // 3
        start = int(rng.integers(-most, FRAMES - len(clip) + most + 1))
        made = silence(FRAMES)
        inside = slice(max(0, start), min(FRAMES, start + len(clip)))
        made[inside] = clip[inside.start - start : inside.stop - start]
        return made

    def noise(self) -> np.ndarray:
        """[FRAMES, MELS]: a floor that nobody names, in most scenes."""
        rng = self.rng
        if rng.random() < 0.4:
            return np.zeros((FRAMES, MELS), np.float32)
        slope = np.linspace(0, rng.uniform(-3, 4), MELS, dtype=np.float32)
        shape = np.exp(slope) * tilt(rng)
        start = int(rng.integers(len(GRAINS) - FRAMES))
        power = shape * np.roll(GRAINS[start : start + FRAMES], int(rng.integers(MELS)), 1)
        return power / power.sum(1).mean() * 10 ** (rng.uniform(-60, -28) / 10)

    def band(self) -> np.ndarray:
        """[MELS] gains of what has recorded or carried the scene."""
        rng = self.rng
        gains = tilt(rng) if rng.random() < 0.3 else np.ones(MELS, np.float32)
        kind = rng.random()
        places = np.arange(MELS, dtype=np.float32)
        if kind < 0.1:  # a telephone
            low, high = rng.uniform(4, 9), rng.uniform(36, 40)
            gains = gains * np.exp(-np.maximum(0, low - places) - 3 * np.maximum(0, places - high))
        elif kind < 0.3:  # a 16 kHz rate, a lossy file, an old recording
            gains = gains * np.exp(-3 * np.maximum(0, places - rng.uniform(34, 63)))
        if rng.random() < NOTCHED:
            middle, width = rng.uniform(0, MELS), rng.uniform(1, 5)
            gains = gains * np.where(np.abs(places - middle) < width, NOTCH, 1)
        return gains.astype(np.float32)


def by_owner(entries: list[Entry]) -> list[list[Entry]]:
    owners: dict[str, list[Entry]] = {}
    for entry in entries:
        owners.setdefault(entry.owner, []).append(entry)
    return list(owners.values())


def tilt(rng: np.random.Generator) -> np.ndarray:
    """[MELS] gains up to 10 dB either way, smooth over pitch."""
    points = rng.uniform(-10, 10, 5) * rng.random()
    decibels = np.interp(np.linspace(0, 4, MELS), np.arange(5), points)
    return (10 ** (decibels / 10)).astype(np.float32)


def gate(rng: np.random.Generator) -> np.ndarray:
    """[FRAMES] gains: one stretch of two steps or more."""
    length = int(rng.integers(2 * STEP_FRAMES, FRAMES))
    start = int(rng.integers(-length // 4, FRAMES - 3 * length // 4))
    ramp = rng.uniform(1, 12)
    frames = np.arange(FRAMES)
    rise, fall = (frames - start) / ramp, (start + length - frames) / ramp
    return np.clip(np.minimum(rise, fall), 0, 1).astype(np.float32) ** 2


def step_power(power: np.ndarray) -> np.ndarray:
    """[steps] mean power of a frame."""
    return power.sum(1).reshape(-1, STEP_FRAMES).mean(1)


def label(
    names: list[str], parts: list[np.ndarray], total: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which classes sound in each step, and how much each counts."""
    steps = len(total) // STEP_FRAMES
    labels = np.zeros((steps, len(CLASSES)), np.float32)
    weights = np.ones((steps, len(CLASSES)), np.float32)
    alike = np.zeros((steps, len(CLASSES)), bool)
    whole = step_power(total)
    for name, part in zip(names, parts):
        if name == OTHER:
            continue
        power, place = step_power(part), PLACE[name]
        own = decibels(power / max(power.max(), 1e-12))
        rest = decibels(power / np.maximum(whole - power, 1e-12))
        heard = decibels(power)
        sounds = (own > OWN_DB) & (rest > REST_DB) & (heard > AUDIBLE_DB)
        may = (own > OWN_UNSURE_DB) & (rest > REST_UNSURE_DB) & (heard > AUDIBLE_DB - 10)
        labels[sounds, place] = 1
        weights[may & ~sounds, place] = 0
        alike[may] |= ALIKE[place] > 0
    weights[alike & (labels == 0)] *= ALIKE_WEIGHT
    return labels, weights


def decibels(power: np.ndarray) -> np.ndarray:
    return 10 * np.log10(np.maximum(power, 1e-14))
