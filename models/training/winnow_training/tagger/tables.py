"""Tables of what a tagger gets right and wrong, in Markdown."""

import numpy as np

from winnow_training.data.mixtures import GROUPS
from winnow_training.tagger.calibration import (
    KINDS,
    STATES,
    Calibration,
    File,
    both_evidences,
    class_files,
    group_files,
    span_score,
    states,
)
from winnow_training.tagger.cases import RELATIVES, Case
from winnow_training.tagger.clips import CLASSES
from winnow_training.tagger.combined import Questions, combined_states, reliability
from winnow_training.tagger.decisions import Rules
from winnow_training.tagger.training import average_precision

ALONE = [[] for _ in GROUPS]


def tables(
    calibration: Calibration, cases: dict[int, list[Case]], logits: dict[int, list[np.ndarray]]
) -> str:
    """States and mean average precision, of classes and of groups, by the length of a file."""
    lines = [
        f"| asked | file | {' | '.join(STATES)} | mean AP | spans |",
        "|---" * (len(STATES) + 4) + "|",
    ]
    for seconds in cases:
        part = cases[seconds], logits[seconds]
        files = class_files(calibration, *part)
        lines += rows("class", seconds, files, calibration.rules, RELATIVES)
    for seconds in cases:
        part = cases[seconds], logits[seconds]
        files = group_files(calibration, *part)
        lines += rows("group", seconds, files, calibration.group_rules, ALONE)
    return "\n".join(lines)


def rows(label: str, seconds: int, files: list[File], rules: Rules, relatives) -> list[str]:
    precision = np.mean([pair[0] for pair in precisions(files, rules).values()])
    shares = states(files, rules, relatives)
    fit = span_score(files, rules)
    return [
        f"| {label}, {kind} | {seconds} s | "
        + " | ".join(f"{100 * shares[kind][state]:.1f} %" for state in STATES)
        + f" | {f'{precision:.2f} | {fit:.2f}' if kind == KINDS[0] else ' | '} |"
        for kind in shares
    ]


def precisions(files: list[File], rules: Rules) -> dict[int, tuple[float, int]]:
    """Class to its average precision over the files it may be asked of, and in how many it is."""
    scores, truth = np.zeros((2, len(files), files[0].smooth.shape[1]))
    is_asked = np.zeros(scores.shape, bool)
    for row, file in enumerate(files):
        scores[row] = both_evidences(file, rules)[1]
        truth[row, file.present] = 1
        is_asked[row, np.concatenate([getattr(file, kind) for kind in KINDS])] = True
    by_class = {}
    for place in np.flatnonzero(truth.any(0)):
        rows_ = is_asked[:, place]
        count = int(truth[rows_, place].sum())
        by_class[int(place)] = average_precision(scores[rows_, place], truth[rows_, place]), count
    return by_class


def class_table(
    calibration: Calibration, cases: dict[int, list[Case]], logits: dict[int, list[np.ndarray]]
) -> str:
    """By class, of the shortest files: average precision, and how often it is found."""
    seconds = min(cases)
    files = class_files(calibration, cases[seconds], logits[seconds])
    counts = np.zeros((len(CLASSES), len(KINDS), 2), int)
    for file in files:
        evidences = both_evidences(file, calibration.rules)[1]
        for column, kind in enumerate(KINDS):
            for place in getattr(file, kind):
                counts[place, column] += (evidences[place] >= calibration.rules.found, 1)
    lines = ["| class | files | AP | found | found, unrelated | found, related |", "|---" * 6 + "|"]
    for place, (precision, count) in precisions(files, calibration.rules).items():
        shares = [f"{100 * hits / asked:.0f} %" if asked else "–" for hits, asked in counts[place]]
        lines.append(f"| {CLASSES[place]} | {count} | {precision:.2f} | {' | '.join(shares)} |")
    return "\n".join(lines)


def combined_table(
    calibration: Calibration, by_length: dict[int, tuple[Questions, Questions]]
) -> str:
    """States by the tagger and mini together, of classes and groups, by the length of a file; and
    how reliable the probabilities are."""
    lines = [f"| asked | file | {' | '.join(STATES)} |", "|---" * (len(STATES) + 2) + "|"]
    parts = (("class", calibration.combined), ("group", calibration.group_combined))
    for at, (label, rule) in enumerate(parts):
        for seconds, both in by_length.items():
            for kind, shares in combined_states(both[at], rule).items():
                cells = " | ".join(f"{100 * shares[state]:.1f} %" for state in STATES)
                lines.append(f"| {label}, {kind} | {seconds} s | {cells} |")
    lines += ["", "| asked | said | there | sounds |", "|---|---|---|---|"]
    for at, (label, rule) in enumerate(parts):
        rows, error = reliability([both[at] for both in by_length.values()], rule)
        lines += [f"| {label} | {mean:.2f} | {true:.2f} | {count} |" for mean, true, count in rows]
        lines.append(f"| {label}, mean gap | {error:.3f} | | |")
    return "\n".join(lines)
