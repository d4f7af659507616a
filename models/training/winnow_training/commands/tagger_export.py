"""Writes what the service loads, and what its port is tested against:
`tagger-export CACHE NAME WEIGHTS_FOLDER GOLDEN_FOLDER`, after `tagger-evaluate --calibrate`."""

import argparse
import json
from pathlib import Path

from safetensors.torch import save_file

from winnow_training.tagger.checkpoint import load_average, read_calibration
from winnow_training.tagger.export import (
    config_of,
    folded,
    golden_decisions,
    golden_lane,
    golden_tiny,
    unfolded,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("weights", type=Path)
    parser.add_argument("golden", type=Path)
    options = parser.parse_args()
    model, stored = load_average(options.cache, options.name)
    calibration = read_calibration(options.cache, options.name)
    served = {name: tensor.half() for name, tensor in folded(model).items()}
    model = unfolded(served, model)
    for folder in (options.weights, options.golden):
        folder.mkdir(parents=True, exist_ok=True)
    save(served, options.weights / "tagger.safetensors")
    write(config_of(model, stored, calibration), options.weights / "config.json")
    save(golden_tiny(), options.golden / "tiny.safetensors")
    save(golden_lane(model), options.golden / "lane.safetensors")
    write(golden_decisions(), options.golden / "decisions.json")


def save(tensors, path: Path):
    """For all to read: save_file leaves it to the owner alone."""
    save_file(tensors, path)
    path.chmod(0o644)


def write(content, path: Path):
    path.write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
