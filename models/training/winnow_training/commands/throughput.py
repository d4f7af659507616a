"""Measures steps and mixtures a second: `mini-throughput --weights ../mini/weights --batch 64`.

Mixtures are measured where a cache is given too. Compiled code stays in the compiler's own cache,
so that `mini-train` begins sooner afterwards.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from winnow_training.commands.train import Run, read_options
from winnow_training.model.checkpoints import NAMES
from winnow_training.model.feed import Feed, batch_shapes
from winnow_training.model.network import TEXT


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_no_prompts(Path(folder))
        run = Run(
            read_options(
                [folder, "throughput", "--weights", options.weights, "--batch", str(options.batch)]
            )
        )
    print(f"{run.options.device}, torch {torch.__version__}, {os.cpu_count()} processors")
    tensors = random_batch(options.batch, run.options.device)
    run.first_step(tensors)
    if run.graph:
        measure_steps("graph", run, tensors, options.seconds)
        run.graph = None
    measure_steps("compiled", run, tensors, options.seconds)
    torch.compiler.set_stance("force_eager")
    measure_steps("eager", run, tensors, options.seconds)
    if options.cache:
        measure_feed(options)


def write_no_prompts(cache: Path):
    weight = np.zeros((len(NAMES), TEXT), np.float32)
    np.savez(cache / "text.npz", **{"meant/weight": weight, "meant/bias": weight[:, 0]})


def random_batch(count: int, device: str) -> list[torch.Tensor]:
    tensors = [0.1 * torch.rand(shape, device=device) for shape in batch_shapes(count)]
    return [*tensors[:3], *(tensor.round() for tensor in tensors[3:])]


def measure_steps(kind: str, run: Run, tensors, seconds: float):
    for _ in range(3):
        run.one_step(tensors, 0.0)
    run.read_sums()  # waits for the device
    began, steps = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        for _ in range(5):
            run.one_step(tensors, 0.0)
        run.read_sums()
        steps += 5
    took = time.monotonic() - began
    print(f"{kind}: {1000 * took / steps:.1f} ms a step, {steps / took:.2f} steps/s", flush=True)


def measure_feed(options):
    """Counts new mixtures alone, from when every process has made its first batch."""
    arguments = [str(options.cache), "throughput", "--batch", str(options.batch)]
    feed = Feed(read_options([*arguments, "--workers", str(options.workers)]), 0)
    feed.remixer = None
    for _ in range(options.workers):
        feed.take()
    began, batches = time.monotonic(), 0
    while time.monotonic() - began < options.seconds:
        feed.take()
        batches += 1
    rate = batches * options.batch / (time.monotonic() - began)
    print(f"{options.workers} processes: {rate:.0f} mixtures/s", flush=True)


if __name__ == "__main__":
    main()
