"""PyTorch's side of `bench/open-models.ts`.

`python speed.py time FIXTURES` answers every line `MODEL BATCH float32|bfloat16` on standard input
with the milliseconds of one separation, at the published sizes with random weights.
`python speed.py check FIXTURES` compares these networks with the goldens of the references.
"""

import json
import sys
import time
import types
from pathlib import Path

import torch
import yaml
from safetensors.torch import load_file

import audiosep
import htdemucs
import roformer
import scnet

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
AUDIOSEP_SAMPLES = 320_000
ROFORMER = "mel-band-roformer-kim"
ROFORMER_SAMPLES = 352_800
SCNET_SAMPLES = 485_100


def random_weights(inventory):
    """Random weights of a scale that keeps activations near 1; variances are positive."""
    weights = {}
    for name, shape, _ in inventory["keys"]:
        fan_in = max(1, torch.Size(shape[1:]).numel())
        value = torch.randn(shape) / fan_in ** 0.5 if len(shape) > 1 else 0.1 * torch.randn(shape)
        weights[name] = value.abs() + 0.5 if name.endswith("running_var") else value
    return weights


def published(fixtures, model):
    """Returns a function from a batch size to the separator and its inputs, at the published size.
    """
    name = ROFORMER if model == "roformer" else model
    folder = "scnet" if model.startswith("scnet") else model
    inventory = json.loads((fixtures / folder / f"{name}.inventory.json").read_text())
    if model == "roformer":
        bands = inventory["bands_first_bin_and_one_past_last"]
        hop, heads = (inventory["kwargs"][key] for key in ("stft_hop_length", "heads"))
        separate = roformer.load(random_weights(inventory), bands, heads, hop)
        return lambda batch: (separate, 0.1 * torch.randn(batch, 2, ROFORMER_SAMPLES))
    if model == "htdemucs":
        separate = htdemucs.load(random_weights(inventory), inventory["kwargs"])
        samples = int(39 / 5 * inventory["kwargs"]["samplerate"] + 0.5)
        return lambda batch: (separate, 0.1 * torch.randn(batch, 2, samples))
    if folder == "scnet":
        separate = scnet.load(random_weights(inventory), inventory["kwargs"])
        return lambda batch: (separate, torch.randn(batch, 2, SCNET_SAMPLES))
    separate = audiosep.load(random_weights(inventory), 320)
    return lambda batch: (separate, 0.1 * torch.randn(batch, AUDIOSEP_SAMPLES),
                          torch.randn(batch, 512))


def wait():
    """Waits until the GPU has finished, because calls return before it has."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


@torch.inference_mode()
def measure(fixtures):
    torch.set_default_device(DEVICE)
    models = {}
    for line in sys.stdin:
        name, batch, precision = line.split()
        if name not in models:
            models[name] = published(fixtures, name)
        separate, *inputs = models[name](int(batch))
        wait()
        start, processor_start = time.perf_counter(), time.process_time()
        with torch.autocast(DEVICE, torch.bfloat16, enabled=precision == "bfloat16"):
            separate(*inputs)
        wait()
        taken = time.perf_counter() - start, time.process_time() - processor_start
        print(*(seconds * 1000 for seconds in taken), flush=True)


@torch.inference_mode()
def check(fixtures):
    folder = fixtures / "htdemucs"
    # the checkpoint refers to its class, which only this stub provides
    stub = types.ModuleType("demucs.htdemucs")
    stub.HTDemucs = type("HTDemucs", (), {"__module__": "demucs.htdemucs"})
    sys.modules.update({"demucs": types.ModuleType("demucs"), "demucs.htdemucs": stub})
    stored = torch.load(next(folder.glob("model/000003bb-*.th")), weights_only=False)
    separate = htdemucs.load(stored["state"], stored["kwargs"])
    golden = load_file(folder / "forward_full.safetensors")
    compare(folder, "forward_full.safetensors", "stems", separate(golden["mix"]), golden)

    folder = fixtures / "audiosep"
    weights = torch.load(folder / "model/audiosep_tiny.ckpt", weights_only=False)["state_dict"]
    sizes = json.loads((folder / "model/sizes.json").read_text())
    separate = audiosep.load(weights, sizes["hop"])
    golden = load_file(folder / "forward_1.safetensors")
    target = separate(golden["mixture"][:, 0], golden["condition"])[:, None]
    compare(folder, "forward_1.safetensors", "waveform", target, golden)

    folder = fixtures / "roformer"
    weights = torch.load(folder / "model-mel/mel_tiny.ckpt", weights_only=True)
    has = load_file(folder / "mel_bands.safetensors")["freqs_per_band"].bool()
    bands = [(bins.nonzero().min().item(), bins.nonzero().max().item() + 1) for bins in has]
    separate = roformer.load(weights, bands, heads=2, hop=50)
    golden = load_file(folder / "mel_batch.safetensors")
    compare(folder, "mel_batch.safetensors", "stems", separate(golden["mix"])[:, 0], golden)

    folder = fixtures / "scnet"
    weights = torch.load(folder / "model/scnet_tiny.ckpt", weights_only=True)
    configuration = yaml.safe_load((folder / "model/scnet_tiny.yaml").read_text())
    separate = scnet.load(weights, configuration["model"])
    for file in ("forward.safetensors", "forward_odd.safetensors"):
        golden = load_file(folder / file)
        compare(folder, file, "stems", separate(golden["mix"]), golden)


def compare(folder, file, name, actual, golden):
    tensors = json.loads((folder / "MANIFEST.json").read_text())["files"][file]["tensors"]
    error = (actual - golden[name]).abs().max().item()
    print(f"{folder.name} {file} {name}: differs by {error:.1e}, allowed {tensors[name]['atol']}")
    assert error <= tensors[name]["atol"]


if __name__ == "__main__":
    {"time": measure, "check": check}[sys.argv[1]](Path(sys.argv[2]))
