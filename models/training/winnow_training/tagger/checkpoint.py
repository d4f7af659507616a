"""A trained tagger and its calibration, as the cache keeps them."""

import dataclasses
import json
from pathlib import Path

import torch

from winnow_training.tagger.calibration import Calibration
from winnow_training.tagger.clips import CLASSES
from winnow_training.tagger.decisions import AloneRule, CombinedRule, Rules
from winnow_training.tagger.network import Tagger


def load_average(cache: Path, name: str) -> tuple[Tagger, dict]:
    """The averaged weights, and all that the checkpoint holds."""
    stored = torch.load(cache / f"{name}.pt", weights_only=True)
    model = Tagger(len(CLASSES))
    model.load_state_dict(stored["average"])
    return model.eval(), stored


def write_calibration(cache: Path, name: str, calibration: Calibration):
    text = json.dumps(dataclasses.asdict(calibration), indent=1)
    calibration_path(cache, name).write_text(text + "\n")


def read_calibration(cache: Path, name: str) -> Calibration:
    stored = json.loads(calibration_path(cache, name).read_text())
    for key in ("rules", "group_rules"):
        stored[key] = Rules(**stored[key])
    for key in ("combined", "group_combined"):
        stored[key] = stored.get(key) and CombinedRule(**stored[key])
    for key in ("alone", "group_alone", "listed", "group_listed"):
        stored[key] = stored.get(key) and AloneRule(**stored[key])
    return Calibration(**stored)


def calibration_path(cache: Path, name: str) -> Path:
    return cache / f"{name}-calibration.json"
