"""Times the network in PyTorch for `bench/mini-speed.ts`: `mini-speed WEIGHTS_FOLDER`.

For each line `BATCH SECONDS float32|bfloat16 1` on standard input it separates once, and prints the
milliseconds that this took, and those of processor time. The last number is that of channels.
"""

import sys
import time
from pathlib import Path

import torch

from winnow_training.data.audio import RATE
from winnow_training.data.mixtures import MIXTURE_RMS
from winnow_training.model.checkpoints import load_average
from winnow_training.model.network import PATCH, TEXT, features, istft, stft


def main():
    folder = Path(sys.argv[1])
    model, _ = load_average(folder)
    for line in sys.stdin:
        batch, seconds, precision, _ = line.split()
        waves = MIXTURE_RMS * torch.randn(int(batch), int(float(seconds) * RATE))
        embedding = torch.nn.functional.normalize(torch.randn(int(batch), TEXT), dim=-1)
        start, used = time.perf_counter(), time.process_time()
        separate(model, waves, embedding, precision == "bfloat16")
        taken = (time.perf_counter() - start, time.process_time() - used)
        print(*(1000 * seconds for seconds in taken), flush=True)


@torch.inference_mode()
def separate(model, waves, embedding, is_half):
    """Waves [batch, N] to targets likewise, transforms and all."""
    spectra = stft(waves, model.window)
    frames = spectra.shape[1]
    padded = torch.nn.functional.pad(spectra, (0, 0, 0, frames % PATCH))
    x = features(padded.real**2 + padded.imag**2)
    spans = torch.zeros(len(x), x.shape[1], 2)
    with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
        logits, _ = model(x, embedding, spans, 1)
    mask = torch.sigmoid(logits.float())[:, :frames]
    return istft(spectra * mask, model.window, waves.shape[1])


if __name__ == "__main__":
    main()
