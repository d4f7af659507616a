"""Trains the tagger: `tagger-train CACHE NAME --minutes 60`; given again, it goes on from its
checkpoint, which it writes every ten minutes and when it is stopped."""

import argparse
import signal
import time
from pathlib import Path

import torch

from winnow_training.tagger.training import Run

SAVE_SECONDS = 600
TELL_STEPS = 100


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("--minutes", type=float, default=60, help="in all, earlier runs counted in")
    parser.add_argument("--batch", type=int, default=24, help="scenes of 8 s")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    run = Run(options.cache, options.name, options.minutes, options.batch)
    print(f"from step {run.step}", flush=True)
    stops = []
    signal.signal(signal.SIGTERM, lambda *_: stops.append(True))
    saved, losses = time.monotonic(), []
    while not run.is_done() and not stops:
        losses.append(run.one_step())
        if run.step % TELL_STEPS == 0:
            mean = sum(losses) / len(losses)
            print(f"step {run.step}, {run.seconds / 60:.1f} minutes: {mean:.3f}", flush=True)
            losses = []
        if time.monotonic() - saved > SAVE_SECONDS:
            run.check()
            run.save()
            saved = time.monotonic()
            print(run.curve[-1], flush=True)
    run.check()
    run.save()
    print(f"stopped at step {run.step}: {run.curve[-1]}", flush=True)


if __name__ == "__main__":
    main()
