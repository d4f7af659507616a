"""The tagger's files for the service, and golden tensors that its port is tested against.

Weights are as TensorFlow takes them: convolutions [height, width, in, out] over time and bands,
[steps, in, out] over steps, dense layers [in, out]. Batch norms are folded into weight and bias.
"""

import dataclasses

import numpy as np
import torch

from winnow_training.data.mixtures import GROUPS
from winnow_training.tagger import features
from winnow_training.tagger.calibration import MEMBERS, Calibration
from winnow_training.tagger.cases import RELATIVES
from winnow_training.tagger.clips import CLASSES
from winnow_training.tagger.decisions import (
    LOGIT_MOST,
    SMOOTHING,
    STEP_SECONDS,
    Rules,
    answer,
    grouped,
)
from winnow_training.tagger.features import MELS, STEP_SAMPLES, log_mel, mel_power
from winnow_training.tagger.network import CONTEXT_STEPS, Tagger

TINY = {"classes": 5, "widths": (4, 4, 8, 8, 8), "hidden": 8, "temporal": 2}
TINY_STEPS, LANE_STEPS = 4, 12


def layers_of(model: Tagger):
    """Yields each layer by its name in the file, with the order of its weight's axes there."""
    image, sequence, dense = (2, 3, 1, 0), (2, 1, 0), (1, 0)
    for index, halving in enumerate(model.halvings):
        yield f"halving.{index}", halving, image
    for index, block in enumerate(model.blocks):
        yield f"block.{index}.first", block.first, image
        yield f"block.{index}.second", block.second, image
    yield "gather", model.gather, dense
    for index, steps in enumerate(model.steps):
        yield f"steps.{index}", steps, sequence
    yield "classify", model.classify, dense


def folded(model: Tagger) -> dict[str, torch.Tensor]:
    """The weights as they are served, float32."""
    served = {}
    for name, layer, axes in layers_of(model):
        is_dense = isinstance(layer, torch.nn.Linear)
        kernel, bias = (layer.weight, layer.bias) if is_dense else fold_norm(layer)
        served[f"{name}.weight"] = kernel.detach().permute(axes).contiguous()
        served[f"{name}.bias"] = bias.detach().clone()
    return served


def fold_norm(layer) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the kernel and the bias that a convolution has with its batch norm in them."""
    norm = layer.norm
    gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    kernel = layer.conv.weight * gain.view(-1, *[1] * (layer.conv.weight.dim() - 1))
    return kernel, norm.bias - norm.running_mean * gain


def unfolded(served: dict[str, torch.Tensor], model: Tagger) -> Tagger:
    """Puts the weights of `folded` into `model`, whose batch norms then do nothing."""
    for name, layer, axes in layers_of(model):
        inverse = [axes.index(axis) for axis in range(len(axes))]
        kernel = served[f"{name}.weight"].float().permute(inverse).contiguous()
        bias = served[f"{name}.bias"].float()
        if isinstance(layer, torch.nn.Linear):
            layer.weight.data, layer.bias.data = kernel, bias
            continue
        layer.conv.weight.data, layer.norm.bias.data = kernel, bias
        layer.norm.running_mean.zero_()
        layer.norm.running_var.fill_(1 - layer.norm.eps)
        layer.norm.weight.data.fill_(1)
    return model.eval()


def features_config() -> dict:
    return {
        "sample_rate": features.RATE,
        "n_fft": features.WINDOW,
        "hop": features.HOP,
        "step_frames": features.STEP_FRAMES,
        "mels": MELS,
        "lowest_hertz": features.LOWEST,
        "highest_hertz": features.HIGHEST,
        "floor": features.FLOOR,
        "centre": features.CENTRE,
        "scale": features.SCALE,
    }


def tiny_model() -> Tagger:
    """A network of few channels whose weights and batch norms are seeded."""
    torch.manual_seed(3)
    model = Tagger(**TINY)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.5, 0.5)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.uniform_(module.bias, -0.5, 0.5)
    return model.eval()


@torch.no_grad()
def golden_tiny() -> dict[str, torch.Tensor]:
    """The tiny network's weights under `weights.`, and the result of every stage."""
    model = tiny_model()
    served = {f"weights.{name}": tensor for name, tensor in folded(model).items()}
    wave = torch.from_numpy(made_up_wave(TINY_STEPS))[None]
    power = mel_power(wave)
    results = {
        "wave": wave,
        "mel_matrix": torch.from_numpy(features.mel_matrix()),
        "mel_power": power,
    }
    results["log_mel"] = log_mel(power)
    results["logits"] = model(results["log_mel"], results)
    return {name: tensor.contiguous().clone() for name, tensor in {**served, **results}.items()}


@torch.no_grad()
def golden_lane(model: Tagger) -> dict[str, torch.Tensor]:
    """Returns 6 s of sound, in float16, and the logits that the network gives for exactly that."""
    wave = torch.from_numpy(made_up_wave(LANE_STEPS)).half()[None]
    return {"wave": wave, "logits": model.eval()(log_mel(mel_power(wave.float())))}


def made_up_wave(steps: int) -> np.ndarray:
    """Decaying harmonic notes over noise, and silence in the last step."""
    rng = np.random.default_rng(1)
    time = np.arange(steps * STEP_SAMPLES) / features.RATE
    wave = 0.02 * rng.standard_normal(len(time))
    for start in np.arange(0, time[-1], 0.7):
        since = np.maximum(0, time - start)
        pitch = 220 * 2 ** (rng.integers(0, 12) / 12)
        for harmonic in range(1, 9):
            tone = np.sin(2 * np.pi * pitch * harmonic * since) * np.exp(-4 * since) / harmonic
            wave += 0.1 * tone * (time >= start)
    wave[-STEP_SAMPLES:] = 0
    return wave.astype(np.float32)


def config_of(model: Tagger, stored: dict, calibration: Calibration) -> dict:
    """All that the service needs beside the weights."""
    return {
        "classes": CLASSES,
        "groups": dict(zip(GROUPS, MEMBERS)),
        "features": features_config(),
        "model": model.config,
        "step_seconds": STEP_SECONDS,
        "context_steps": CONTEXT_STEPS,
        "calibration": {
            "logit_most": LOGIT_MOST,
            "scales": rounded(calibration.scales),
            "offsets": rounded(calibration.offsets),
            "group_scales": rounded(calibration.group_scales),
            "group_offsets": rounded(calibration.group_offsets),
        },
        "relatives": RELATIVES,
        "smoothing": list(SMOOTHING),
        "rules": dataclasses.asdict(calibration.rules),
        "group_rules": dataclasses.asdict(calibration.group_rules),
        **presence_config(calibration),
        "training": {key: stored[key] for key in ("step", "seconds")},
    }


def presence_config(calibration: Calibration) -> dict:
    """The rules of `tagger-combine` for classes, and under `group` those for groups."""
    if calibration.combined is None:
        raise ValueError("The calibration has no rule for mini's match yet: run tagger-combine")

    def numbers(key: str) -> dict:
        rule = dataclasses.asdict(getattr(calibration, key))
        return {name: round(number, 4) for name, number in rule.items()}

    keys = ("combined", "alone", "listed")
    return {key: {**numbers(key), "group": numbers(f"group_{key}")} for key in keys}


def rounded(numbers: list[float]) -> list[float]:
    return [round(number, 4) for number in numbers]


DECISION_CLASSES = 6
DECISION_STEPS = (1, 2, 10, 40)


GOLDEN_RULES = Rules(
    sharpness=2.0,
    length=1.0,
    discount=0.5,
    margin=1.0,
    found=-2.5,
    absent=-7.0,
    begins=0.0,
    goes_on=-1.5,
    gap_steps=1,
)


def golden_decisions() -> dict:
    """Returns seeded logits of a few classes with the answers and group logits for them."""
    rng = np.random.default_rng(4)
    relatives = [[1, 2], [0, 2], [0, 1], [], [5], [4]]
    members = [[0, 1, 2], [4], [0, 1, 2, 3, 4, 5]]
    cases = []
    for steps in DECISION_STEPS * 3:
        drift = np.cumsum(rng.normal(0, 1.5, (steps, DECISION_CLASSES)), 0)
        logits = np.round(np.clip(drift - 3 + rng.normal(0, 3, DECISION_CLASSES), -8, 8), 3)
        answers = [
            dataclasses.asdict(answer(logits, place, relatives, GOLDEN_RULES))
            for place in range(DECISION_CLASSES)
        ]
        cases.append(
            {
                "logits": logits.tolist(),
                "answers": answers,
                "groups": grouped(logits, members).tolist(),
            }
        )
    return {
        "relatives": relatives,
        "members": members,
        "rules": dataclasses.asdict(GOLDEN_RULES),
        "cases": cases,
    }
