"""Trains for some minutes: `mini-train CACHE NAME --minutes 60`, and again to go on.

The trunk keeps a constant rate after its warm-up, so it can stop and go on at any time. A release
is a branch of it: `--decay-minutes 20` starts at the trunk's last checkpoint, lets the rate fall
to nothing and writes NAME-release.pt, while the trunk stays as it was (warm-up, stable, decay:
S. Hu et al., MiniCPM, 2024; by a square root: A. Hägele et al., 2024). A branch that was stopped
before its end goes on as well.
"""

import argparse
import copy
import json
import math
import os
import signal
import time
from pathlib import Path

import numpy as np
import torch

from winnow_training.data.cases import recorded_cases, test_cases
from winnow_training.model.checkpoints import NAMES, read_weights, rename
from winnow_training.model.feed import Feed
from winnow_training.model.loss import inputs, loss
from winnow_training.model.measures import summary
from winnow_training.model.muon import Muon
from winnow_training.model.network import Separator

LEARNING_RATE, WARM_UP_STEPS = 3e-3, 100
CLIP, DECAY = 1.0, 0.01
AVERAGE = 0.998
REPORT_EVERY = 100
SUMS = ("snr", "present", "leak", "absent", "norm")
PAUSE_SECONDS, PAUSE_SECONDS_GPU = 60, 2
"""A step that takes longer was interrupted: a process that others stop for a while does not train.
"""
CASES_EVERY = 6
"""The learning curve takes every sixth of the test's cases."""


def main():
    options = read_options()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    run = Run(options)
    feed = Feed(options, run.step)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: run.stop())
    minutes = options.decay_minutes or options.minutes
    cases = evaluation_cases(options.cache)
    run.first_step(feed.take())  # compiles, which the clock should not count
    saved = run.seconds
    start = saved - run.done * minutes * 60
    while (done := (run.seconds - start) / (minutes * 60)) < 1:
        if run.is_stopped:
            break
        run.done = done
        run.one_step(run.wait_for(feed), 1 - math.sqrt(done) if options.decay_minutes else 1.0)
        run.count_time()
        if run.seconds - saved > options.checkpoint_minutes * 60:
            saved = run.seconds
            run.checkpoint(cases)
    if run.is_stopped:
        run.save()
        print(f"stopped at step {run.step}, {100 * run.done:.0f} % done", flush=True)
    else:
        run.done = 1.0
        run.checkpoint(cases)


def evaluation_cases(cache: Path) -> dict:
    """Returns none where the banks to test on are missing."""
    if not any(cache.glob("test-*.npy")):
        return {}
    every = recorded_cases(cache) | test_cases(cache)
    return {name: cases[::CASES_EVERY] for name, cases in every.items()}


def read_options(arguments=None):
    """Reads `arguments`, or the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--decay-minutes", type=float, default=0)
    parser.add_argument(
        "--weights", type=Path, help="served weights to begin with where there is no checkpoint"
    )
    parser.add_argument("--rate", type=float, default=1.0, help="share of the full learning rate")
    parser.add_argument("--batch", type=int, default=8, help="mixtures, of two prompts each")
    parser.add_argument(
        "--alike", type=float, default=0, help="share of mixtures of two voices or instruments"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--checkpoint-minutes", type=float, default=10)
    parser.add_argument("--workers", type=int, default=1, help="processes that make mixtures")
    for size, default in (("C", 64), ("D", 256), ("heads", 4), ("shared", 2), ("conditioned", 5)):
        parser.add_argument(f"--{size}", type=int, default=default)
    return parser.parse_args(arguments)


class Run:
    """The state of a training run: what a checkpoint holds, and how a step changes it."""

    def __init__(self, options):
        self.options = options
        self.path, stored, self.done = find_checkpoint(options)
        sizes = {key: getattr(options, key) for key in ("C", "D", "heads", "shared", "conditioned")}
        text = np.load(options.cache / "text.npz")
        meant = {name: torch.from_numpy(text[f"meant/{name}"]) for name in ("weight", "bias")}
        if stored:
            stored = rename(stored, meant)
        self.model = Separator(**(stored["config"] if stored else sizes | dict(names=NAMES)))
        self.model.name_logits.load_state_dict(meant)
        self.model.to(options.device)
        matrices, others = split_parameters(self.model)
        is_on_gpu = options.device != "cpu"
        self.rate = torch.zeros((), device=options.device)
        self.optimizers = [
            Muon(matrices, self.rate, weight_decay=DECAY),
            torch.optim.AdamW(
                others,
                self.rate,
                betas=(0.9, 0.98),
                weight_decay=DECAY,
                fused=is_on_gpu,
                capturable=is_on_gpu,
            ),
        ]
        self.average = copy.deepcopy(self.model)
        self.step, self.seconds, self.curve, self.warm_up_from = 0, 0.0, [], 0
        if stored:
            self.restore(stored)
        self.model.compile_blocks()
        self.loss = torch.compile(loss, dynamic=False)
        self.sums = torch.zeros(len(SUMS), device=options.device)
        self.graph = None
        self.is_stopped, self.started, self.waited = False, time.monotonic(), 0.0
        size = sum(parameter.numel() for parameter in self.model.parameters())
        print(f"{size / 1e6:.2f} million parameters, from step {self.step}", flush=True)

    def restore(self, stored):
        self.model.load_state_dict(stored["model"])
        self.average.load_state_dict(stored["average"])
        for optimizer, state in zip(self.optimizers, stored["optimizers"]):
            groups = optimizer.state_dict()["param_groups"]  # of this device, whatever the last was
            optimizer.load_state_dict({**state, "param_groups": groups})
            for group in optimizer.param_groups:
                group["lr"] = self.rate
        self.step, self.seconds = stored["step"], stored["seconds"]
        self.curve = stored["curve"]
        self.warm_up_from = 0 if stored["optimizers"] else self.step

    def stop(self):
        """Ends training after the step that is being made."""
        self.is_stopped = True

    def wait_for(self, feed: Feed) -> list[torch.Tensor]:
        began = time.monotonic()
        tensors = feed.take()
        self.waited += time.monotonic() - began
        return tensors

    def first_step(self, tensors):
        """Makes a step of no length, and goes without compiled code where the compiler fails. On a
        GPU the next steps are one CUDA graph, or else they would wait for Python to launch them."""
        began = time.monotonic()
        try:
            self.one_step(tensors, 0.0)
        except Exception as error:
            print(f"goes on without compiled code: {error}", flush=True)
            torch.compiler.set_stance("force_eager")
            self.one_step(tensors, 0.0)
        if self.options.device != "cpu":
            try:
                self.graph = StepGraph(self.change_weights, tensors)
            except RuntimeError as error:
                print(f"goes on without a graph: {error}", flush=True)
        self.started = time.monotonic()
        print(f"first step after {self.started - began:.0f} s", flush=True)

    def one_step(self, tensors, rate: float):
        """`rate` is a share of the run's. Nothing here waits for the device, but every REPORT_EVERY
        steps."""
        warm_up = min(1.0, (self.step - self.warm_up_from + 1) / WARM_UP_STEPS)
        self.rate.fill_(LEARNING_RATE * rate * self.options.rate * warm_up)
        (self.graph or self.change_weights)(tensors)
        self.step += 1
        self.update_average()
        if self.step % REPORT_EVERY == 0:
            self.report_step()

    def change_weights(self, tensors):
        """One step by `tensors`, as `batch` has them, at the rate that stands in `self.rate`."""
        self.model.zero_grad()
        mixture, targets, embeddings, absent, activity, spans, _ = tensors
        x, truth = inputs(self.model.window, mixture, targets, absent, activity)
        with torch.autocast(self.options.device, torch.bfloat16):
            logits, activity_logits = self.model(
                x, embeddings.flatten(0, 1), spans.flatten(0, 1), targets.shape[1]
            )
        total, error, leak = self.loss(
            logits,
            activity_logits,
            truth.mixture,
            truth.target,
            truth.cross,
            truth.absent,
            truth.activity,
        )
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        for optimizer in self.optimizers:
            optimizer.step()
        count = truth.absent.sum()
        self.sums += torch.stack([-error, len(truth.absent) - count, leak, count, norm])

    def count_time(self):
        """Adds the time since it was last called, or since `started`, without pauses."""
        now = time.monotonic()
        most = PAUSE_SECONDS if self.options.device == "cpu" else PAUSE_SECONDS_GPU
        self.seconds += min(now - self.started, most)
        self.started = now

    @torch.no_grad()
    def update_average(self):
        share = min(AVERAGE, (1 + self.step) / (10 + self.step))
        averages = list(self.average.parameters())
        torch._foreach_mul_(averages, share)
        torch._foreach_add_(averages, list(self.model.parameters()), alpha=1 - share)

    def read_sums(self) -> dict[str, float]:
        """Fails if a gradient since the last report was not finite: weights are lost then."""
        sums = dict(zip(SUMS, self.sums.tolist()))
        if not math.isfinite(sums["norm"]):
            raise FloatingPointError(f"a gradient before step {self.step} was not finite")
        return sums

    def report_step(self):
        sums, minutes = self.read_sums(), self.seconds / 60
        snr = sums["snr"] / max(1, sums["present"])
        leak = sums["leak"] / max(1, sums["absent"])
        print(
            f"step {self.step}, {minutes:.1f} minutes: {snr:.2f} dB, absent {leak:.1f} dB,"
            f" waited {self.waited:.1f} s",
            flush=True,
        )
        self.sums.zero_()
        self.waited = 0.0

    def checkpoint(self, cases):
        """Saves at once, then adds a point to the learning curve and saves that too."""
        self.save()
        if not cases:
            return
        point = {
            "step": self.step,
            "minutes": round(self.seconds / 60, 1),
            **summary(self.average, cases),
        }
        self.curve.append(point)
        print(json.dumps(point), flush=True)
        self.save()
        self.started = time.monotonic()

    def save(self):
        self.read_sums()
        state = dict(
            config=self.model.config,
            model=self.model.state_dict(),
            average=self.average.state_dict(),
            optimizers=[optimizer.state_dict() for optimizer in self.optimizers],
            step=self.step,
            seconds=self.seconds,
            curve=self.curve,
            done=self.done,
        )
        partial = self.path.with_suffix(".partial")
        torch.save(state, partial)
        partial.rename(self.path)


class StepGraph:
    """Steps of one shape as a CUDA graph: thousands of small kernels are launched at once."""

    def __init__(self, work, tensors):
        """`work(tensors)` may wait for nothing, and keeps its state where it is. It runs three
        times and is then recorded."""
        self.inputs = [tensor.clone() for tensor in tensors]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                work(self.inputs)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        # batches are loaded by a thread of their own meanwhile
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            work(self.inputs)

    def __call__(self, tensors):
        torch._foreach_copy_(self.inputs, list(tensors))
        self.graph.replay()


def find_checkpoint(options):
    """The run's path; the state it goes on from, None at the very start; and its minutes' share
    that is done, from 0 to 1: a release goes on if it was stopped, else it leaves the trunk."""
    trunk, release = (options.cache / f"{options.name}{end}.pt" for end in ("", "-release"))
    if options.decay_minutes and release.exists():
        stored = torch.load(release)
        if (done := stored.get("done", 1.0)) < 1:
            return release, stored, done
    if trunk.exists():
        stored = torch.load(trunk)
    else:
        stored = read_weights(options.weights) if options.weights else None
    return release if options.decay_minutes else trunk, stored, 0.0


def split_parameters(model):
    """Matrices of the blocks, for Muon; all else, for AdamW."""
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        in_block = name.startswith(("shared_blocks.", "conditioned_blocks."))
        is_matrix = parameter.ndim == 2 and min(parameter.shape) >= 8
        (matrices if in_block and is_matrix else others).append(parameter)
    return matrices, others


if __name__ == "__main__":
    main()
