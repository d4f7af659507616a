"""How probable mini, which is asked for one sound at a time, thinks that sound: its match.

The match does not depend on the tagger, and takes most of the time, so it is computed once for the
files that `combined.py` fits a rule on and for those that it is tested on.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from winnow_training.data.audio import RATE, high_pass
from winnow_training.data.mixtures import GROUPS, MIXTURE_RMS, WORDS
from winnow_training.model.measures import separate
from winnow_training.model.network import match_of
from winnow_training.tagger.calibration import audible, group_truth
from winnow_training.tagger.cases import Case, Clips, make_cases
from winnow_training.tagger.clips import CLASSES

CHUNK_SAMPLES, OVERLAP_SAMPLES = 10 * RATE, 2 * RATE
"""As the engine cuts mini's chunks (`chunkSecondsMax` and `overlapSecondsMax` of mini.ts)."""
FILES = {5: 65, 60: 17}
"""How many files of so many seconds, of each split."""
ASKED = {"unrelated": 3, "related": 2}
"""How many absent classes a file is asked for; of groups one that is there and one that is not."""
SEEDS = {"calibration": 501, "test": 5001}
OR_MADE = ("calibration",)
"""Splits in which classes without real recordings have the recipe's own clips, as elsewhere."""
LOGIT_MOST = 30.0
GROUP_NAMES = list(GROUPS)


@dataclass
class Row:
    """A sound that a file was asked for, and the logits of the match of mini's chunks."""

    split: str
    seconds: int
    file: int
    is_group: bool
    place: int
    """In CLASSES or in GROUP_NAMES."""
    kind: str
    logits: list[float]


def cases_of(cache: Path, split: str) -> dict[int, list[Case]]:
    """Returns files of two sounds by their length in seconds, always the same."""
    clips = Clips(cache, split, split in OR_MADE)
    return {
        seconds: make_cases(clips, count, seconds, SEEDS[split] + number)
        for number, (seconds, count) in enumerate(FILES.items())
    }


def asked_of(case: Case, rng: np.random.Generator) -> list[tuple[bool, int, str]]:
    """Of whether it is a group, its place and its kind: all classes that are present, and some
    that are not."""
    absent = {"unrelated": case.unrelated(), "related": case.related()}
    questions = [(False, int(place), "present") for place in audible(case)]
    for kind, count in ASKED.items():
        questions += [(False, place, kind) for place in some(rng, absent[kind], count)]
    labels, _, is_absent = group_truth(case)
    questions += [(True, place, "present") for place in some(rng, labels.any(0), 1)]
    return questions + [(True, place, "unrelated") for place in some(rng, is_absent, 1)]


def some(rng: np.random.Generator, is_one: np.ndarray, count: int) -> list[int]:
    """Returns at most `count` places where `is_one` is true."""
    places = np.flatnonzero(is_one)
    return rng.choice(places, min(count, len(places)), replace=False).tolist()


def chunks_of(samples: np.ndarray) -> list[np.ndarray]:
    """As the engine's chunks.ts cuts a mixture: the last one is moved back, not shortened."""
    last = max(0, len(samples) - CHUNK_SAMPLES)
    starts = [*range(0, last, CHUNK_SAMPLES - OVERLAP_SAMPLES), last]
    return [samples[start : start + CHUNK_SAMPLES] for start in starts]


@torch.no_grad()
def match_logits(model, samples: np.ndarray, embeddings: torch.Tensor) -> np.ndarray:
    """[chunks, prompts], of a mixture and the prompts' embeddings [prompts, 384]."""
    rows = []
    for chunk in chunks_of(samples):
        wave = torch.from_numpy(high_pass(chunk))
        rms = wave.pow(2).mean().sqrt()
        if rms == 0:
            rows.append(np.full(len(embeddings), -LOGIT_MOST))
            continue
        mixture = (wave * (MIXTURE_RMS / rms))[None]
        target, activity = separate(model, mixture, embeddings)
        match = match_of(activity.double(), target, mixture.expand_as(target))
        rows.append(torch.logit(match).clamp(-LOGIT_MOST, LOGIT_MOST).numpy())
    return np.stack(rows)


class Matches:
    """The rows that the cache has; `add` asks mini for those that it has not."""

    def __init__(self, cache: Path):
        self.path = cache / "matches.jsonl"
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.rows = [Row(**json.loads(line)) for line in lines]

    def of(self, split: str, seconds: int) -> list[Row]:
        """At least one row, of the first files, as many as FILES has."""
        part = split, seconds
        files = FILES[seconds]
        rows = [row for row in self.rows if (row.split, row.seconds) == part and row.file < files]
        if not rows:
            raise ValueError(f"{self.path} has no {split} files of {seconds} s: run tagger-match")
        return rows

    def add(self, model, embed, cases: dict[str, dict[int, list[Case]]]):
        """`cases` by split and length. `embed` makes embeddings [texts, 384] of texts. Short
        files come first, and splits take turns, so that it may be stopped at any time."""
        prompts = {
            is_group: embed([WORDS[name]["train"][0] for name in names])
            for is_group, names in ((False, CLASSES), (True, GROUP_NAMES))
        }
        answered = {(row.split, row.seconds, row.file) for row in self.rows}
        turns = [
            (seconds, number, split)
            for split, by_length in cases.items()
            for seconds, files in by_length.items()
            for number in range(len(files))
            if (split, seconds, number) not in answered
        ]
        for seconds, number, split in sorted(turns):
            case = cases[split][seconds][number]
            questions = asked_of(case, np.random.default_rng([SEEDS[split], seconds, number]))
            embeddings = np.stack([prompts[is_group][place] for is_group, place, _ in questions])
            logits = match_logits(model, case.samples, torch.from_numpy(embeddings)).T
            made = [
                Row(split, seconds, number, *question, np.round(chunks, 4).tolist())
                for question, chunks in zip(questions, logits)
            ]
            self.rows += made
            with self.path.open("a") as file:
                file.writelines(json.dumps(asdict(row)) + "\n" for row in made)
