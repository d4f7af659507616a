"""Training the tagger: steps on scenes, an average of the weights, and checkpoints of all that."""

import copy
import itertools
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

from winnow_training.model.muon import Muon
from winnow_training.tagger.clips import CLASSES, Store
from winnow_training.tagger.network import Tagger
from winnow_training.tagger.scenes import Mixer

RATE_MOST, DECAY = 2e-3, 0.02
WARM_STEPS = 100
FALLING = 0.35
"""The last share of the time, in which the rate falls to nothing."""
AVERAGE = 0.998
"""The share of the averaged weights that a step keeps."""
PRIOR = -4.0
"""Logit that the classes begin with: few of them sound at once."""
CHECK_SCENES, PREDICT_BATCH = 384, 32
REFRESH = 300
"""Batches after which it is looked up which clips there are."""


class Scenes(IterableDataset):
    """Batches without end, of the clips that are there: more may be written meanwhile."""

    def __init__(self, cache: Path, seed: int, size: int):
        self.cache, self.seed, self.size = cache, seed, size

    def __iter__(self):
        torch.set_num_threads(1)
        for turn in itertools.count():
            mixer = Mixer(Store(self.cache), [self.seed, turn])
            for _ in range(REFRESH):
                yield mixer.batch(self.size)


class Run:
    """A training that goes on from its checkpoint."""

    def __init__(self, cache: Path, name: str, minutes: float, batch: int):
        self.path, self.minutes = cache / f"{name}.pt", minutes
        torch.manual_seed(0)
        self.model = Tagger(len(CLASSES)).to(memory_format=torch.channels_last)
        torch.nn.init.constant_(self.model.classify.bias, PRIOR)
        self.average = copy.deepcopy(self.model)
        matrices = [weight for weight in self.model.parameters() if weight.dim() > 1]
        others = [weight for weight in self.model.parameters() if weight.dim() == 1]
        self.optimisers = [
            Muon(matrices, RATE_MOST, weight_decay=DECAY),
            torch.optim.AdamW(others, RATE_MOST, betas=(0.9, 0.98), weight_decay=0),
        ]
        self.step, self.seconds, self.curve = 0, 0.0, []
        if self.path.exists():
            self.load()
        scenes = Scenes(cache, self.step, batch)
        self.batches = iter(DataLoader(scenes, batch_size=None, num_workers=1, prefetch_factor=6))
        self.checks = Mixer(Store(cache, calibration=True), seed=0).batch(CHECK_SCENES)

    def load(self):
        stored = torch.load(self.path, weights_only=True)
        self.model.load_state_dict(stored["model"])
        self.average.load_state_dict(stored["average"])
        for optimiser, state in zip(self.optimisers, stored["optimisers"]):
            optimiser.load_state_dict(state)
        self.step, self.seconds, self.curve = (stored[key] for key in ("step", "seconds", "curve"))

    def save(self):
        stored = {
            "config": self.model.config,
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "step": self.step,
            "seconds": self.seconds,
            "curve": self.curve,
        }
        part = self.path.with_suffix(".part")
        torch.save(stored, part)
        part.rename(self.path)

    def rate(self) -> float:
        """The learning rate: it rises, stays, and falls to nothing as the minutes end."""
        left = 1 - self.seconds / (60 * self.minutes)
        return RATE_MOST * min(1, (self.step + 1) / WARM_STEPS, max(0.0, left / FALLING))

    def is_done(self) -> bool:
        return self.seconds >= 60 * self.minutes

    def one_step(self) -> float:
        """Returns the loss of a batch of new scenes."""
        begun = time.monotonic()
        for optimiser in self.optimisers:
            optimiser.param_groups[0]["lr"] = self.rate()
        features, labels, weights = next(self.batches)
        self.model.train()
        with torch.autocast("cpu", torch.bfloat16):
            logits = self.model(features)
        loss = loss_of(logits.float(), labels, weights)
        self.model.zero_grad()
        loss.backward()
        for optimiser in self.optimisers:
            optimiser.step()
        self.follow()
        self.step += 1
        self.seconds += time.monotonic() - begun
        return loss.item()

    @torch.no_grad()
    def follow(self):
        """Moves the average on; at first it is younger."""
        share = 1 - min(AVERAGE, (1 + self.step) / (10 + self.step))
        for mine, theirs in zip(
            self.average.state_dict().values(), self.model.state_dict().values()
        ):
            if mine.is_floating_point():
                mine.lerp_(theirs, share)
            else:
                mine.copy_(theirs)

    def check(self):
        """Notes the loss and the mean average precision on scenes of owners kept apart."""
        features, labels, weights = self.checks
        logits = predict(self.average, features)
        loss = loss_of(*map(torch.from_numpy, (logits, labels, weights)))
        precision = mean_average_precision(logits, labels, weights)
        self.curve.append(
            {
                "step": self.step,
                "minutes": round(self.seconds / 60, 1),
                "loss": round(float(loss), 4),
                "mean average precision": round(precision, 4),
            }
        )


def loss_of(logits, labels, weights) -> torch.Tensor:
    """Cross entropy, summed over classes and averaged over steps."""
    each = functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (each * weights).sum(-1).mean()


@torch.no_grad()
def predict(model: Tagger, features: np.ndarray) -> np.ndarray:
    """features [N, frames, MELS] to logits [N, steps, classes]."""
    model.eval()
    parts = [
        model(torch.from_numpy(features[start : start + PREDICT_BATCH])).numpy()
        for start in range(0, len(features), PREDICT_BATCH)
    ]
    return np.concatenate(parts)


def mean_average_precision(logits, labels, weights) -> float:
    """Over the classes that sound anywhere; what is not said is left out."""
    precisions = []
    for place in range(labels.shape[-1]):
        is_labelled = weights[..., place] == 1
        truth, scores = labels[..., place][is_labelled], logits[..., place][is_labelled]
        if truth.any():
            precisions.append(average_precision(scores, truth))
    return float(np.mean(precisions))


def average_precision(scores: np.ndarray, truth: np.ndarray) -> float:
    """The mean precision at every item that is true."""
    ranked = truth[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float((precision * ranked).sum() / ranked.sum())
