"""Checkpoints of a training run, and folders of served weights as checkpoints."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file

from winnow_training.data.mixtures import WORDS
from winnow_training.model.network import Separator

NAMES = [*WORDS]


def weights_path(cache: Path, name: str) -> Path:
    """The path of a folder of served weights, or of the checkpoint of that name in the cache."""
    return Path(name) if Path(name).is_dir() else cache / f"{name}.pt"


def load_average(path: Path, device="cpu"):
    """The averaged weights of a checkpoint or a folder of served ones, ready to serve."""
    stored = read_served(path) if path.is_dir() else torch.load(path, map_location=device)
    model = Separator(**stored["config"]).to(device)
    model.load_state_dict(stored["average"])
    return model.eval(), stored


def read_served(folder: Path) -> dict:
    """Reads what `write_weights` wrote as a checkpoint: without the optimizers' state and the
    learning curve, and rounded to float16."""
    config = json.loads((folder / "config.json").read_text())
    tensors = load_file(folder / "model.safetensors")
    state = {name: tensor.float() for name, tensor in tensors.items()}
    return dict(
        config=config["model"],
        model=state,
        average=state,
        optimizers=[],
        curve=[],
        **config["training"],
    )


def read_weights(folder: Path) -> dict:
    """Served weights to train from: the gate is as training has it, not as `mini-gate` set it."""
    stored = read_served(folder)
    stored["model"]["closing_strength"].fill_(1)
    stored["model"]["closing_tolerance"].fill_(0)
    return stored


def rename(stored: dict, meant: dict[str, torch.Tensor]) -> dict:
    """The checkpoint for the names that there are now and their meanings by `mini-prompts`; a name
    that is new begins with the mean of all codes."""
    earlier = stored["config"]["names"]

    def renamed(state):
        codes = state["name_codes.weight"]
        columns = [
            codes[:, earlier.index(name)] if name in earlier else codes.mean(1) for name in NAMES
        ]
        return state | {
            "name_codes.weight": torch.stack(columns, 1),
            "name_logits.weight": meant["weight"],
            "name_logits.bias": meant["bias"],
        }

    return stored | dict(
        config=stored["config"] | dict(names=NAMES),
        model=renamed(stored["model"]),
        average=renamed(stored["average"]),
        optimizers=stored["optimizers"] if earlier == NAMES else [],
    )
