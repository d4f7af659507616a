"""Manifests: whose clips are in the banks, and under which licence."""

import csv
import json
from collections import Counter
from pathlib import Path


def write_manifest(cache: Path):
    """manifest.csv: for each class and split the number of clips by licence, author and origin."""
    origins = Counter()
    for split in ("train", "test"):
        for path in cache.glob(f"{split}-*.json"):
            name = path.stem.removeprefix(f"{split}-")
            for clip in json.loads(path.read_text())["clips"]:
                origins[name, split, clip["licence"], clip["author"], clip["origin"]] += 1
    with (cache / "manifest.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["class", "split", "licence", "author", "origin", "clips"])
        rows.writerows([*key, count] for key, count in sorted(origins.items()))
