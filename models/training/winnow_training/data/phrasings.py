"""Makes prompts: phrasings.json."""

import json
from pathlib import Path

OTHER = "other"
"""Sounds of no class: company that no prompt names."""


def load_phrasings():
    """Class and group to {"train": [...], "held_out": [...]}; groups also have "members"."""
    return json.loads((Path(__file__).parent / "phrasings.json").read_text())
