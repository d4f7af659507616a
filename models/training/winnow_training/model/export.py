"""The files that the service loads and that its port of the network is tested against."""

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from winnow_training.data.audio import RATE, high_pass
from winnow_training.data.mixtures import MIXTURE_RMS, WORDS
from winnow_training.model.measures import separate
from winnow_training.model.network import (
    BANDS,
    HOP,
    PATCH,
    TEXT,
    WINDOW,
    Separator,
    features,
    istft,
    match_of,
    presence,
    stft,
)
from winnow_training.model.stereo import separate_stereo

GOLDEN_SAMPLES = 8_000
LANE_SAMPLES = 24_000
GOLDEN_PROMPT = "piano"
GOLDEN_SPAN = slice(2, 6)
"""Tokens of which the prompt is said not to sound."""


def write_weights(model: Separator, stored: dict, folder: Path):
    """model.safetensors, in float16, and config.json; `model` keeps the rounded weights."""
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()  # as it will be read, the window apart
    state = {key: value.half().contiguous() for key, value in model.state_dict().items()}
    save(state, folder / "model.safetensors")
    config = {
        "model": stored["config"],
        "sample_rate": RATE,
        "n_fft": WINDOW,
        "hop": HOP,
        "patch": PATCH,
        "bands": BANDS,
        "text": TEXT,
        "input_rms": MIXTURE_RMS,
        "names": [WORDS[name]["train"][0] for name in stored["config"]["names"]],
        "text_encoder": "all-MiniLM-L6-v2 (mean pooling, L2-normalised)",
        "training": {key: stored[key] for key in ("step", "seconds")},
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def save(tensors: dict[str, torch.Tensor], path: Path):
    """For all to read, the service's own user too: save_file leaves it to the owner alone."""
    save_file(tensors, path)
    path.chmod(0o644)


@torch.no_grad()
def golden(model, embedding) -> dict[str, torch.Tensor]:
    """Results of every part for a made-up waveform, taken as it is; the spans are used by the last
    results only."""
    wave = torch.from_numpy(made_up_wave(GOLDEN_SAMPLES))
    scale = MIXTURE_RMS / (wave.pow(2).mean().sqrt() + 1e-6)
    spectrum = stft((wave * scale)[None], model.window)
    frames = spectrum.shape[1]
    padded = torch.nn.functional.pad(spectrum, (0, 0, 0, frames % PATCH))
    x_in = features(padded.real**2 + padded.imag**2)
    results = {
        "waveform": wave,
        "embedding": embedding,
        "spectrum.real": spectrum.real,
        "spectrum.imag": spectrum.imag,
        "features": x_in,
    }
    x = results["split"] = model.band_split(x_in)
    z = model.initial_frame.expand(*x.shape[:2], -1)
    for index, block in enumerate(model.shared_blocks):
        x, z = block(x, z, None)
        results[f"shared.{index}.x"], results[f"shared.{index}.z"] = x, z
    code = results["code"] = model.code(embedding)
    for index, block in enumerate(model.conditioned_blocks):
        x, z = block(x, z, code)
        results[f"cond.{index}.x"], results[f"cond.{index}.z"] = x, z
    results["norm"] = model.mask_norm(x)
    results["head"] = model.mask_head(results["norm"])
    nothing = torch.zeros(1, x.shape[1], 2)
    results["mask_logits"], results["activity"] = model(x_in, embedding, nothing, 1)
    mask = torch.sigmoid(results["mask_logits"])[:, :frames]
    results["target"] = istft(spectrum * mask, model.window, len(wave))[0] / scale
    results["spans"] = nothing.clone()
    results["spans"][:, GOLDEN_SPAN, 1] = 1
    results["spans.mask_logits"], results["spans.activity"] = model(
        x_in, embedding, results["spans"], 1
    )
    return {name: tensor.contiguous().clone() for name, tensor in results.items()}


@torch.no_grad()
def golden_lane(model, embedding) -> dict[str, torch.Tensor]:
    """A lane's result for the made-up waveform with a constant offset and rumble."""
    time = np.arange(LANE_SAMPLES) / RATE
    rumble = 0.1 + 0.1 * np.sin(2 * np.pi * 10 * time)
    wave = (made_up_wave(LANE_SAMPLES) + rumble).astype(np.float32)
    filtered = torch.from_numpy(high_pass(wave))[None]
    scale = MIXTURE_RMS / (filtered.pow(2).mean().sqrt() + 1e-6)
    target, activity = separate(model, filtered * scale, embedding)
    target /= scale
    match = match_of(activity, target, filtered)
    return {
        "waveform": torch.from_numpy(wave),
        "target": (presence(match) * target)[0].contiguous(),
        "match": match,
    }


@torch.no_grad()
def golden_stereo(model, embedding) -> dict[str, torch.Tensor]:
    """A lane's result for two channels with the made-up waveform and a noise at two places."""
    wave = made_up_wave(LANE_SAMPLES)
    noise = 0.1 * np.random.default_rng(2).standard_normal(LANE_SAMPLES)
    places = np.array([[0.9, 0.2], [0.3, 0.9]])
    mixture = (places @ np.stack([wave, noise])).astype(np.float32)
    filtered = torch.from_numpy(high_pass(mixture))
    target, activity = separate_stereo(model, filtered, embedding[0])
    match = match_of(activity[None], target[None], filtered[None])
    return {
        "waveform": torch.from_numpy(mixture),
        "target": (presence(match) * target).contiguous(),
        "match": match,
    }


def made_up_wave(samples: int) -> np.ndarray:
    """Decaying harmonic notes over noise, float32: a note each half of a second."""
    rng = np.random.default_rng(1)
    time = np.arange(samples) / RATE
    wave = 0.02 * rng.standard_normal(samples)
    for start, pitch in ((0.0, 220.0), (0.5, 277.2)):
        since = np.maximum(0, time - start)
        for harmonic in range(1, 9):
            tone = np.sin(2 * np.pi * pitch * harmonic * since) * np.exp(-since * 4) / harmonic
            wave += 0.1 * tone * (time >= start)
    return wave.astype(np.float32)
