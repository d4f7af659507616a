"""Calibrates logits and chooses the rules, on clips by owners who are kept for that."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.nn import functional

from winnow_training.data.mixtures import CONFUSABLE, GROUPS, UNSURE
from winnow_training.tagger.cases import RELATIVES, Case
from winnow_training.tagger.clips import CLASSES
from winnow_training.tagger.decisions import (
    AloneRule,
    CombinedRule,
    Rules,
    calibrated,
    evidence,
    grouped,
    smoothed,
    spans_of,
    state_of,
)

MEMBERS = [[CLASSES.index(name) for name in CLASSES if name in group] for group in GROUPS.values()]
OWN_PRIOR = 0.02
"""How strongly a class's scale and offset are held to those of all, per step."""
FIT_STEPS = 60
FALSE_UNRELATED, FALSE_RELATED = 0.04, 0.17
"""Shares of absent sounds that may be found, of each length of file."""
MISSED = 0.01
"""Share of present sounds that may be called absent: few, for new owners are harder than these."""
SHARPNESS, LENGTH = (1.0, 2.0, 4.0), (0.0, 0.5, 1.0)
DISCOUNT, MARGIN = (0.0, 0.5, 1.0), (0.0, 1.0, 2.0)
SPAN_SLACKS, GAP_STEPS = (0.0, 1.0, 2.0, 3.0), 1
"""A span goes on while the logit is at most so much under what finds a sound."""
STATES = ("found", "similar", "unsure", "absent")


@dataclass
class Calibration:
    """Holds the scales and offsets of classes and groups for `calibrated`, and the rules."""

    scales: list[float]
    offsets: list[float]
    group_scales: list[float]
    group_offsets: list[float]
    rules: Rules
    group_rules: Rules
    """Rules for groups, which have no relatives."""
    combined: CombinedRule | None = None
    group_combined: CombinedRule | None = None
    """Rules for the evidence with mini's match, once `tagger-combine` has fitted them …"""
    alone: AloneRule | None = None
    group_alone: AloneRule | None = None
    """… for the evidence without it …"""
    listed: AloneRule | None = None
    group_listed: AloneRule | None = None
    """… and for sounds that nobody asked for, of which any is as likely as another."""

    def classes(self, logits: np.ndarray) -> np.ndarray:
        return calibrated(logits, np.array(self.scales), np.array(self.offsets))

    def groups(self, logits: np.ndarray) -> np.ndarray:
        both = grouped(self.classes(logits), MEMBERS)
        return calibrated(both, np.array(self.group_scales), np.array(self.group_offsets))


def fit(logits: np.ndarray, labels: np.ndarray, weights: np.ndarray):
    """[N, classes] each to scales and offsets [classes], held to common ones."""
    z, truth, said = (torch.from_numpy(np.float32(part)) for part in (logits, labels, weights))
    common = torch.tensor([0.0, 0.0], requires_grad=True)
    by_class = torch.zeros(2, z.shape[1], requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [common, by_class], max_iter=FIT_STEPS, line_search_fn="strong_wolfe"
    )

    def parts():
        return torch.exp(common[0] + by_class[0]), common[1] + by_class[1]

    def closure():
        optimiser.zero_grad()
        scales, offsets = parts()
        each = functional.binary_cross_entropy_with_logits(
            z * scales + offsets, truth, reduction="none"
        )
        prior = OWN_PRIOR * (by_class[0] ** 2 * 4 + by_class[1] ** 2).mean()
        loss = (each * said).mean() + prior / z.shape[1]
        loss.backward()
        return loss

    optimiser.step(closure)
    scales, offsets = (part.detach().numpy() for part in parts())
    return scales, offsets


def group_truth(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """labels [steps, groups], weights likewise, and [groups] bool: of no member, nor of anything
    that might be taken for one."""
    present = {CLASSES[place] for place in case.present}
    near = present.union(*(pair for pair in CONFUSABLE if pair & present))
    labels, weights, absent = [], [], []
    for (name, members), places in zip(GROUPS.items(), MEMBERS):
        sounds = case.labels[:, places].max(1)
        unsaid = (case.weights[:, places] == 0).any(1) & (sounds == 0)
        is_near = bool((members | UNSURE[name]) & near)
        labels.append(sounds)
        weights.append(np.where(unsaid | (is_near & (sounds == 0)), 0, 1))
        absent.append(not is_near)
    return np.stack(labels, 1), np.stack(weights, 1), np.array(absent)


@dataclass
class File:
    """A file's logits of K classes or groups, and which of these are asked for."""

    smooth: np.ndarray
    """[steps, K]"""
    relatives: np.ndarray
    """[steps, K]: the highest logit of a relative."""
    present: np.ndarray
    unrelated: np.ndarray
    related: np.ndarray
    """Indices; the last two are of absent sounds."""
    labels: np.ndarray
    """[steps, K]"""


NOBODY = -1e3
"""A logit where there is no relative."""


def class_files(calibration: Calibration, cases: list[Case], logits: list[np.ndarray]):
    made = []
    for case, raw in zip(cases, logits):
        smooth = smoothed(calibration.classes(raw))
        near = [
            smooth[:, others].max(1) if others else np.full(len(smooth), NOBODY)
            for others in RELATIVES
        ]
        absent = np.flatnonzero(case.unrelated()), np.flatnonzero(case.related())
        made.append(File(smooth, np.stack(near, 1), audible(case), *absent, case.labels))
    return made


def group_files(calibration: Calibration, cases: list[Case], logits: list[np.ndarray]):
    made = []
    for case, raw in zip(cases, logits):
        smooth = smoothed(calibration.groups(raw))
        labels, _, absent = group_truth(case)
        present, none = np.flatnonzero(labels.any(0)), np.zeros(0, int)
        nobody = np.full_like(smooth, NOBODY)
        made.append(File(smooth, nobody, present, np.flatnonzero(absent), none, labels))
    return made


def audible(case: Case) -> np.ndarray:
    """The classes that sound in a step at least."""
    return np.array([place for place in case.present if case.labels[:, place].any()], int)


def both_evidences(file: File, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """[K] each: plain, and after relatives' discount."""
    return evidence(file.smooth, rules), evidence(discounted(file, rules), rules)


def discounted(file: File, rules: Rules) -> np.ndarray:
    """[steps, K]: as `decisions.discounted`, which this is quicker than."""
    surer = np.maximum(0, file.relatives - file.smooth - rules.margin)
    return file.smooth - rules.discount * surer


def asked(files: list[File], rules: Rules) -> dict[str, np.ndarray]:
    """Evidence of what is asked, by kind."""
    evidences = [both_evidences(file, rules)[1] for file in files]
    return {
        kind: np.concatenate(
            [values[getattr(file, kind)] for values, file in zip(evidences, files)]
        )
        for kind in KINDS
    }


KINDS = ("present", "unrelated", "related")


def threshold(scores: np.ndarray, share: float) -> float:
    """Returns the value that a share of the scores is above."""
    return float(np.quantile(scores, 1 - share)) if len(scores) else -np.inf


def choose_rules(lengths: list[list[File]]) -> Rules:
    """The rules by which most present sounds are found while few absent ones are, in files of each
    length."""
    best = (-1.0, None)
    for numbers in itertools.product(SHARPNESS, LENGTH, DISCOUNT, MARGIN):
        has_relatives = any(len(file.related) for file in lengths[0])
        if numbers[2] == 0 and numbers[3] != MARGIN[0] or numbers[2] and not has_relatives:
            continue
        rules = Rules(*numbers, found=0, absent=0, begins=0, goes_on=0, gap_steps=GAP_STEPS)
        scores = [asked(files, rules) for files in lengths]
        found = max(
            max(
                threshold(score["unrelated"], FALSE_UNRELATED),
                threshold(score["related"], FALSE_RELATED),
            )
            for score in scores
        )
        hits = float(np.mean([(score["present"] >= found).mean() for score in scores]))
        if hits > best[0]:
            lowest = min(float(np.quantile(score["present"], MISSED)) for score in scores)
            best = hits, replace(rules, found=found, absent=min(found, lowest))
    return best[1]


def choose_spans(files: list[File], rules: Rules) -> Rules:
    """The rules with spans that begin where a sound would be found by that step alone, so that what
    is found has one, and that go on until they fit best."""
    slacked = [
        replace(rules, begins=rules.found, goes_on=rules.found - slack) for slack in SPAN_SLACKS
    ]
    return max(slacked, key=lambda slack_rules: span_score(files, slack_rules))


def span_score(files: list[File], rules: Rules) -> float:
    """How well spans fit: the mean over found sounds of twice the overlap by both lengths (F1)."""
    scores = []
    for file in files:
        logits = discounted(file, rules)
        for place in file.present[evidence(logits, rules)[file.present] >= rules.found]:
            said = np.zeros(len(logits))
            for start, end in spans_of(logits[:, place], rules):
                said[start:end] = 1
            truth = file.labels[:, place]
            scores.append(2 * (said * truth).sum() / max(1, said.sum() + truth.sum()))
    return float(np.mean(scores)) if scores else 0.0


def calibrate(cases: dict[int, list[Case]], logits: dict[int, list[np.ndarray]]) -> Calibration:
    """`cases` by length in seconds, and what the network makes of each."""
    pairs = [pair for length in cases for pair in zip(cases[length], logits[length])]
    truth = [(case.labels, case.weights) for case, _ in pairs]
    scales, offsets = fit(*joined([(raw, *said) for (_, raw), said in zip(pairs, truth)]))
    rules = Rules(1, 1, 0, 0, 0, 0, 0, 0, GAP_STEPS)
    ones, nothing = [1.0] * len(MEMBERS), [0.0] * len(MEMBERS)
    made = Calibration(scales.tolist(), offsets.tolist(), ones, nothing, rules, rules)
    rows = [(made.groups(raw), *group_truth(case)[:2]) for case, raw in pairs]
    made.group_scales, made.group_offsets = (part.tolist() for part in fit(*joined(rows)))
    by_length = [(cases[length], logits[length]) for length in cases]
    for key, files_of in (("rules", class_files), ("group_rules", group_files)):
        lengths = [files_of(made, *part) for part in by_length]
        files = [file for part in lengths for file in part]
        setattr(made, key, choose_spans(files, choose_rules(lengths)))
    return made


def joined(rows) -> list[np.ndarray]:
    """Joins the first parts of all rows, their second parts and so on."""
    return [np.concatenate(part) for part in zip(*rows)]


def states(files: list[File], rules: Rules, relatives: list[list[int]]):
    """Kind of what is asked to shares of states."""
    counted = {kind: [] for kind in KINDS}
    for file in files:
        plain, remaining = both_evidences(file, rules)
        for kind in KINDS:
            for place in getattr(file, kind):
                others = relatives[place]
                has_relative = bool(others) and remaining[others].max() >= rules.found
                state = state_of(plain[place], remaining[place], has_relative, rules)
                counted[kind].append(state)
    return {
        kind: {state: states.count(state) / len(states) for state in STATES}
        for kind, states in counted.items()
        if states
    }
