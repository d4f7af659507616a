"""ESC-10: real recordings from Freesound (K. J. Piczak, ACM Multimedia 2015; CC BY 3.0)."""

import csv
from pathlib import Path

from winnow_training.data.audio import Clip, read_mono

CLASSES = {
    "dog-bark": "dog",
    "rain": "rain",
    "sea-waves": "sea",
    "baby-cry": "baby",
    "clock-tick": "clock",
    "person-sneeze": "sneeze",
    "helicopter": "helicopter",
    "chainsaw": "chainsaw",
    "rooster": "rooster",
    "fire-crackling": "fire",
}
HELD_OUT_RECORDINGS = 5
"""Recordings of each class that are never trained on: the first of fold 4, by Freesound number."""

REFUSED_LICENCES = {"CC-Sampling+"}
"""Forbids advertising and asks that what is made of it be transformed: not for weights we ship."""


def clips(folder: Path) -> dict[str, dict[str, list[Clip]]]:
    """Class to split to clips, from a folder of class folders with an ATTRIBUTION.csv."""
    with open(folder / "ATTRIBUTION.csv", newline="") as file:
        credits = {(row["class"], row["file"]): row for row in csv.DictReader(file)}
    return {name: _class_clips(folder / label, label, credits) for label, name in CLASSES.items()}


def _class_clips(folder: Path, label: str, credits) -> dict[str, list[Clip]]:
    paths = sorted(folder.glob("*.ogg"))
    held_out = set(
        sorted({_recording(path) for path in paths if path.name[0] == "4"})[:HELD_OUT_RECORDINGS]
    )
    splits = {"train": [], "test": []}
    for path in paths:
        credit = credits[(label, path.name)]
        if credit["licence"] in REFUSED_LICENCES:
            continue
        clip = Clip(read_mono(path), credit["original_url"], credit["licence"], credit["author"])
        splits["test" if _recording(path) in held_out else "train"].append(clip)
    return splits


def _recording(path: Path) -> str:
    """Clips with one Freesound number come from one recording and must not be split."""
    return path.name.split("-")[1]
