"""Decides from a file's logits whether a sound is in it, where, and what else it may be.

Pure: the service has the same in TypeScript. Evidence is not a maximum over the file, or a longer
file would find more; it is the logarithm of the mean odds, so a step counts as one of so many.
"""

import math
from dataclasses import dataclass

import numpy as np

STEP_SECONDS = 0.5
SMOOTHING = (0.25, 0.5, 0.25)
"""A step's logit takes part in its neighbours'."""
LOGIT_MOST = 8.0
"""No step is surer than this, either way."""


@dataclass(frozen=True)
class Rules:
    """Numbers that calibration chooses. Logits are natural logarithms of odds."""

    sharpness: float
    """Power of the odds of which the mean is taken: more is nearer to the maximum."""
    length: float
    """1: a step counts as one of so many; 0: a longer file has more evidence."""
    discount: float
    """How much of what a relative has more of is taken from a sound's logit …"""
    margin: float
    """… beyond this."""
    found: float
    """Evidence from which a sound is found."""
    absent: float
    """Evidence below which it is absent."""
    begins: float
    """Logit that a span reaches somewhere …"""
    goes_on: float
    """… and that it keeps."""
    gap_steps: int
    """Gaps of so many steps are bridged."""


@dataclass(frozen=True)
class CombinedRule:
    """Numbers by which the evidence and the match of mini decide together, see `combined.py`."""

    match_sharpness: float
    """Power of the match's odds of which the mean over chunks is taken."""
    tagger: float
    match: float
    offset: float
    found: float
    """z from which a sound is found …"""
    absent: float
    """… and below which it is absent."""

    def score(self, evidence: float, chunks: np.ndarray) -> float:
        """Returns z; its sigmoid is a probability. `chunks` are logits of mini's matches."""
        sharp = self.match_sharpness * chunks
        most = sharp.max()
        mean = (most + math.log(np.exp(sharp - most).mean())) / self.match_sharpness
        match = min(LOGIT_MOST, max(-LOGIT_MOST, mean))
        return self.tagger * float(evidence) + self.match * match + self.offset

    def state(self, z: float, has_relative: bool) -> str:
        """`has_relative` tells whether the tagger finds a sound of its family."""
        if z >= self.found:
            return "found"
        if z < self.absent:
            return "absent"
        return "similar" if has_relative else "unsure"


@dataclass(frozen=True)
class AloneRule:
    """Makes a logit of the evidence, whose sigmoid is a probability."""

    tagger: float
    offset: float


@dataclass(frozen=True)
class Answer:
    """`state` is found, similar, unsure or absent."""

    state: str
    evidence: float
    similar_to: int | None
    """The relative that is found instead, where the state is similar."""
    spans: list[tuple[float, float]]
    """In seconds, where it is found or may be."""
    share: float
    """The part of the file that the spans cover, from 0 to 1."""


def calibrated(logits: np.ndarray, scales: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """[steps, classes]: logits whose sigmoid is a probability."""
    return np.clip(logits * scales + offsets, -LOGIT_MOST, LOGIT_MOST)


def grouped(logits: np.ndarray, members: list[list[int]]) -> np.ndarray:
    """[steps, groups]: logit of any member sounding, as if each did for itself (noisy or)."""
    absent = -np.logaddexp(0, logits)  # the logarithm of 1 - p
    both = np.stack([absent[:, places].sum(1) for places in members], 1)
    both = np.minimum(both, -1e-9)
    return np.clip(np.log(-np.expm1(both)) - both, -LOGIT_MOST, LOGIT_MOST)


def smoothed(logits: np.ndarray) -> np.ndarray:
    """[steps, …]: each with its neighbours; at the ends with the one that there is."""
    before, centre, after = SMOOTHING
    total, weights = centre * logits, np.full(len(logits), centre)
    total[1:] += before * logits[:-1]
    total[:-1] += after * logits[1:]
    weights[1:] += before
    weights[:-1] += after
    return total / weights[:, None]


def discounted(logits: np.ndarray, relatives: list[list[int]], rules: Rules) -> np.ndarray:
    """[steps, classes]: less where a relative is surer, since it explains what is heard."""
    made = logits.copy()
    for place, others in enumerate(relatives):
        if others:
            surer = logits[:, others].max(1) - logits[:, place] - rules.margin
            made[:, place] -= rules.discount * np.maximum(0, surer)
    return made


def evidence(logits: np.ndarray, rules: Rules) -> np.ndarray:
    """[…] of [steps, …]: the logarithm of the mean of the odds, to a power."""
    sharp = rules.sharpness * logits
    most = sharp.max(0)
    total = most + np.log(np.exp(sharp - most).sum(0))
    return (total - rules.length * math.log(len(logits))) / rules.sharpness


def answer(logits: np.ndarray, place: int, relatives: list[list[int]], rules: Rules) -> Answer:
    """Answers for the class at `place`, by calibrated logits [steps, classes]."""
    smooth = smoothed(logits)
    remaining_logits = discounted(smooth, relatives, rules)
    plain, remaining = evidence(smooth, rules), evidence(remaining_logits, rules)
    others = relatives[place]
    best = max(others, key=lambda other: remaining[other]) if others else None
    state = state_of(
        plain[place], remaining[place], best is not None and remaining[best] >= rules.found, rules
    )
    places = spans_of(remaining_logits[:, place], rules) if state in ("found", "unsure") else []
    return Answer(
        state,
        float(remaining[place]),
        best if state == "similar" else None,
        [(start * STEP_SECONDS, end * STEP_SECONDS) for start, end in places],
        sum(end - start for start, end in places) / len(logits),
    )


def state_of(plain: float, remaining: float, has_relative: bool, rules: Rules) -> str:
    """`plain` is the evidence for the sound, `remaining` what relatives leave of it; `has_relative`
    tells whether a sound of its family is found."""
    if remaining >= rules.found:
        return "found"
    if plain < rules.absent:
        return "absent"
    return "similar" if has_relative else "unsure"


def spans_of(logits: np.ndarray, rules: Rules) -> list[tuple[int, int]]:
    """Steps from and to: runs that keep `goes_on` and somewhere reach `begins`, gaps bridged."""
    runs: list[tuple[int, int]] = []
    start = None
    for step in range(len(logits) + 1):
        is_on = step < len(logits) and logits[step] >= rules.goes_on
        if is_on and start is None:
            start = step
        if not is_on and start is not None:
            if logits[start:step].max() >= rules.begins:
                runs.append((start, step))
            start = None
    joined: list[tuple[int, int]] = []
    for run in runs:
        if joined and run[0] - joined[-1][1] <= rules.gap_steps:
            joined[-1] = (joined[-1][0], run[1])
        else:
            joined.append(run)
    return joined
