"""Decides by what the tagger heard and by mini's match together whether a sound is in a file.

z = tagger · evidence + match · M + offset, where M is the logarithm of the mean over mini's chunks
of the match's odds, to a power, and is bounded as the tagger's steps are. sigmoid(z) is how
probable the sound is, if as many are asked for that are there as are not.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from winnow_training.tagger.calibration import (
    FALSE_RELATED,
    FALSE_UNRELATED,
    KINDS,
    MISSED,
    STATES,
    Calibration,
    File,
    both_evidences,
    class_files,
    group_files,
    threshold,
)
from winnow_training.tagger.cases import RELATIVES, Case
from winnow_training.tagger.decisions import AloneRule, CombinedRule, Rules
from winnow_training.tagger.matches import Row

SHARPNESS = (0.5, 1.0, 2.0, 4.0)
SHARES = {"present": 0.5, "unrelated": 0.25, "related": 0.25}
"""How often a sound of each kind is asked for, of which the probability is true."""
ABSENT_MOST = 0.05
"""A sound that is more probable than this is not called absent, however few of those that are there
are less probable: mini was trained on the owners of calibration, and knows new ones less well."""
RELIABILITY_BINS = 10


@dataclass
class Questions:
    """What N sounds that files of one length were asked for have for and against them."""

    evidence: np.ndarray
    chunks: list[list[float]]
    """Logits of the match of mini's chunks."""
    kind: np.ndarray
    """present, unrelated or related."""
    has_relative: np.ndarray
    """Whether the tagger finds a relative of it."""

    def weights(self) -> np.ndarray:
        """[N], which sum to 1: as if kinds were asked for as SHARES has them."""
        kinds = [kind for kind in SHARES if (self.kind == kind).any()]
        total = sum(SHARES[kind] for kind in kinds)
        made = np.zeros(len(self.kind))
        for kind in kinds:
            is_one = self.kind == kind
            made[is_one] = SHARES[kind] / total / is_one.sum()
        return made


def joined(lengths: list[Questions]) -> Questions:
    """All that files of any length were asked for."""
    return Questions(
        np.concatenate([questions.evidence for questions in lengths]),
        [chunks for questions in lengths for chunks in questions.chunks],
        np.concatenate([questions.kind for questions in lengths]),
        np.concatenate([questions.has_relative for questions in lengths]),
    )


def asked(
    calibration: Calibration, rows: list[Row], cases: list[Case], logits: list[np.ndarray]
) -> tuple[Questions, Questions]:
    """Of classes and of groups; `rows` are of these files."""
    class_evidence, group_evidence = (
        [both_evidences(file, rules)[1] for file in files]
        for files, rules in (
            (class_files(calibration, cases, logits), calibration.rules),
            (group_files(calibration, cases, logits), calibration.group_rules),
        )
    )

    def part(is_group: bool) -> Questions:
        part_rows = [row for row in rows if row.is_group == is_group]
        evidence = group_evidence if is_group else class_evidence
        has_relative = [
            not is_group
            and any(
                class_evidence[row.file][at] >= calibration.rules.found
                for at in RELATIVES[row.place]
            )
            for row in part_rows
        ]
        return Questions(
            np.array([evidence[row.file][row.place] for row in part_rows]),
            [row.logits for row in part_rows],
            np.array([row.kind for row in part_rows]),
            np.array(has_relative, bool),
        )

    return part(False), part(True)


def scores(questions: Questions, rule: CombinedRule) -> np.ndarray:
    """[N]: z."""
    pairs = zip(questions.evidence, questions.chunks)
    return np.array([rule.score(evidence, np.array(chunks)) for evidence, chunks in pairs])


def fit_rule(lengths: list[Questions]) -> CombinedRule:
    """The rule by which sounds are most probable where they are there, and the thresholds by which
    no more than the shares that `calibration.py` has are wrong in files of any length."""
    fits = [fit_weights(lengths, sharpness) for sharpness in SHARPNESS]
    _, rule = min(fits, key=lambda fit: fit[0])
    made = [(one.kind, scores(one, rule)) for one in lengths]
    bounds = (("unrelated", FALSE_UNRELATED), ("related", FALSE_RELATED))
    found = max(threshold(z[kind == one], share) for kind, z in made for one, share in bounds)
    lowest = min(float(np.quantile(z[kind == "present"], MISSED)) for kind, z in made)
    absent = min(found, lowest, float(np.log(ABSENT_MOST / (1 - ABSENT_MOST))))
    return replace(rule, found=found, absent=absent)


def fit_weights(lengths: list[Questions], sharpness: float) -> tuple[float, CombinedRule]:
    """The mean loss of the rule that has the least, without its thresholds."""
    plain = CombinedRule(sharpness, tagger=0, match=1, offset=0, found=0, absent=0)
    questions = joined(lengths)
    columns = np.stack(
        [questions.evidence, scores(questions, plain), np.ones(len(questions.kind))], 1
    )
    fit = logistic(columns, questions.kind == "present", questions.weights())
    tagger, match, offset = (float(number) for number in fit.x)
    return fit.fun, replace(plain, tagger=tagger, match=match, offset=offset)


def fit_alone(evidence: np.ndarray, is_there: np.ndarray, weights: np.ndarray) -> AloneRule:
    """[N] each; the weights sum to 1."""
    columns = np.stack([evidence, np.ones(len(evidence))], 1)
    tagger, offset = logistic(columns, is_there, weights).x
    return AloneRule(float(tagger), float(offset))


def fit_listed(files: list[File], rules: Rules) -> AloneRule:
    """Of all that may be asked of files, as often as it is there."""
    evidence, truth = [], []
    for file in files:
        evidences = both_evidences(file, rules)[1]
        for kind in KINDS:
            places = getattr(file, kind)
            evidence.append(evidences[places])
            truth.append(np.full(len(places), kind == "present"))
    count = sum(map(len, evidence))
    return fit_alone(np.concatenate(evidence), np.concatenate(truth), np.full(count, 1 / count))


def logistic(columns: np.ndarray, is_there: np.ndarray, weights: np.ndarray):
    """The least mean loss by numbers for the columns, none but the last of them under 0."""
    signs = np.where(is_there, 1, -1)

    def loss(numbers):
        return float(weights @ np.logaddexp(0, -signs * (columns @ numbers)))

    inner = columns.shape[1] - 1
    bounds = [(0, None)] * inner + [(None, None)]
    return minimize(loss, [0.5] * inner + [0], bounds=bounds)


def combine(calibration: Calibration, lengths: list[tuple[Questions, Questions]]) -> Calibration:
    """`calibration` with rules for both, of what files of each length were asked for."""
    rules = {}
    for prefix, parts in zip(("", "group_"), zip(*lengths)):
        questions = joined(list(parts))
        rules[f"{prefix}combined"] = fit_rule(list(parts))
        rules[f"{prefix}alone"] = fit_alone(
            questions.evidence, questions.kind == "present", questions.weights()
        )
    return replace(calibration, **rules)


def with_listed(
    calibration: Calibration, cases: list[Case], logits: list[np.ndarray]
) -> Calibration:
    """`calibration` with rules for the list of what is in a file."""
    return replace(
        calibration,
        listed=fit_listed(class_files(calibration, cases, logits), calibration.rules),
        group_listed=fit_listed(group_files(calibration, cases, logits), calibration.group_rules),
    )


def combined_states(questions: Questions, rule: CombinedRule) -> dict[str, dict[str, float]]:
    """Kind to shares of states."""
    states = np.array(
        [rule.state(z, near) for z, near in zip(scores(questions, rule), questions.has_relative)]
    )
    return {
        kind: {state: float((states[questions.kind == kind] == state).mean()) for state in STATES}
        for kind in SHARES
        if (questions.kind == kind).any()
    }


def reliability(
    lengths: list[Questions], rule: CombinedRule
) -> tuple[list[tuple[float, float, int]], float]:
    """Of each tenth of probabilities the mean, the share of sounds that are there and their number;
    and the mean gap between both (expected calibration error)."""
    questions = joined(lengths)
    probabilities = 1 / (1 + np.exp(-scores(questions, rule)))
    truth, weights = questions.kind == "present", questions.weights()
    places = np.minimum((probabilities * RELIABILITY_BINS).astype(int), RELIABILITY_BINS - 1)
    rows, error = [], 0.0
    for place in np.unique(places):
        in_bin = places == place
        share = weights[in_bin] / weights[in_bin].sum()
        mean, true = float(share @ probabilities[in_bin]), float(share @ truth[in_bin])
        rows.append((mean, true, int(in_bin.sum())))
        error += weights[in_bin].sum() * abs(mean - true)
    return rows, float(error)
