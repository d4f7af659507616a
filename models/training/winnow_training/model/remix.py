"""Mixtures of targets that earlier mixtures had, made on the device.

A GPU trains faster than CPUs make mixtures. Between two batches of these it trains on their
targets in other pairs, at other levels.
"""

from collections import deque

import numpy as np
import torch

from winnow_training.data.mixtures import ALIKE, CONFUSABLE, GROUPS, MIXTURE_RMS, UNSURE, WORDS

BATCHES = 8
"""Whose targets are kept."""
PER_BATCH = 3
"""Remixes for each new batch, at most."""
LOUDER = 5
"""How much louder or softer than the first the second target is, at most, in dB."""
ABSENT = 0.5
"""So often the second prompt is for what is not there: a quarter of all prompts, as elsewhere."""


def tell_apart() -> np.ndarray:
    """[asked, asked]: whether nothing that the one may mean is, or sounds like, what the other may
    mean."""
    means = [GROUPS.get(name, {name}) | UNSURE.get(name, set()) for name in WORDS]
    alike = [names.union(*(pair for pair in CONFUSABLE if pair & names)) for names in means]
    return np.array([[not meanings & other for other in alike] for meanings in means])


def of_one_family() -> np.ndarray:
    """[asked, asked]: whether both are voices, or both pitched instruments."""
    families = [np.array([name in family for name in WORDS]) for family in ALIKE]
    return np.logical_or.reduce([np.outer(family, family) for family in families])


class Remixer:
    """Keeps the last batches, and makes others of them; at a share of `alike` a voice's company is
    another voice, and a pitched instrument's another instrument, where there is one."""

    def __init__(self, seed, alike: float = 0):
        self.rng, self.alike = np.random.default_rng(seed), alike
        self.kept, self.owed = deque(maxlen=BATCHES), 0
        self.apart = tell_apart()
        self.is_alike = self.apart & of_one_family()

    def keep(self, tensors, asked: np.ndarray, absent: np.ndarray):
        """`tensors` as `batch` has them; `asked` and `absent` [B, Q] are not on the device."""
        self.kept.append((tensors, asked.astype(int).ravel(), absent.ravel() > 0))
        self.owed = min(self.owed + PER_BATCH, BATCHES)

    def make(self) -> list[torch.Tensor] | None:
        """A batch of pairs; None where too much was made of what is kept."""
        if self.owed == 0 or len(self.kept) < 2:
            return None
        # Two batches only, as to gather from all of them would copy all of them.
        chosen = [self.kept[place] for place in self.rng.choice(len(self.kept), 2, replace=False)]
        asked, absent = (np.concatenate([batch[field] for batch in chosen]) for field in (1, 2))
        places = self.choose(asked, absent, len(asked) // 4)
        if places is None:
            return None
        self.owed -= 1
        louder = self.rng.uniform(-LOUDER, LOUDER, len(asked) // 4)
        return mix([tensors for tensors, _, _ in chosen], *places, louder)

    def choose(self, asked, absent, count: int):
        """Places of the first target, of the second, and of the second prompt, [count] each; None
        where something has no match."""
        present, missing = np.flatnonzero(~absent), np.flatnonzero(absent)
        first = self.rng.choice(present, count)
        apart, alike = (of[asked[first]][:, asked[present]] for of in (self.apart, self.is_alike))
        wants_alike = (self.rng.random(count) < self.alike) & alike.any(1)
        company = self.pick(present, np.where(wants_alike[:, None], alike, apart))
        if company is None:
            return None
        is_absent = self.rng.random(count) < ABSENT
        allowed = self.apart[asked[first]] & self.apart[asked[company]]
        absent_places = self.pick(missing, allowed[:, asked[missing]] | ~is_absent[:, None])
        if absent_places is None:
            return None
        return first, company, np.where(is_absent, absent_places, company)

    def pick(self, places, allowed):
        """For each row of `allowed` one of `places` that it allows."""
        if not allowed.size or not allowed.any(1).all():
            return None
        return places[(self.rng.random(allowed.shape) * allowed).argmax(1)]


def mix(batches, first, company, second, louder) -> list[torch.Tensor]:
    """Tensors as `batch` has them: each mixture is of two targets, and its prompts are those of the
    first target and of the place `second`."""
    device = batches[0][0].device
    targets, embeddings, absent, activity, spans, asked = (
        torch.cat([tensors[field].flatten(0, 1) for tensors in batches]) for field in range(1, 7)
    )
    first, company, second = (
        torch.from_numpy(places).to(device) for places in (first, company, second)
    )
    gains = torch.from_numpy(10 ** (louder / 20)).to(device, torch.float32)
    target, others = level(targets[first]), level(targets[company]) * gains[:, None]
    mixture = target + others
    scale = MIXTURE_RMS / (mixture.pow(2).mean(1, keepdim=True).sqrt() + 1e-9)
    is_there = 1 - absent[second]
    made = torch.stack([target * scale, others * scale * is_there[:, None]], 1)
    pairs = torch.stack([first, second], 1)
    rest = [field[pairs] for field in (embeddings, absent, activity, spans, asked)]
    return [mixture * scale, made, *rest]


def level(samples: torch.Tensor) -> torch.Tensor:
    return samples / (samples.pow(2).mean(1, keepdim=True).sqrt() + 1e-6)
