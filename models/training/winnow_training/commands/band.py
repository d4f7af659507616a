"""Measures what a telephone's band costs: `mini-band CACHE NAME`, on every third real recording.

Each mixture is sent through the band, and separated by two masks: the one that the network finds
for what was sent, and the one that it finds for the mixture as it was. The difference is what the
band costs the network; what it takes away from the sound is in both.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from scipy.signal import butter, sosfiltfilt

from winnow_training.data.audio import RATE
from winnow_training.data.cases import Case, recorded_cases
from winnow_training.data.mixtures import MIXTURE_RMS
from winnow_training.model.checkpoints import load_average, weights_path
from winnow_training.model.measures import one_pass, si_sdr
from winnow_training.model.network import istft, stft

LOW, HIGH = 300, 3_400
"""Hertz."""
ORDER = 8
BAND = butter(ORDER // 2, (LOW, HIGH), "bandpass", fs=RATE, output="sos")
EVERY = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    options = parser.parse_args()
    model, _ = load_average(weights_path(options.cache, options.name))
    cases = [case for part in recorded_cases(options.cache).values() for case in part]
    present = [case for case in cases if case.target is not None]
    rows = np.array([losses(model, case) for case in present[::EVERY]])
    for name, values in zip(["loss", "SI-SDRi as it was", "SI-SDRi as sent"], rows.T):
        error = values.std(ddof=1) / len(values) ** 0.5
        print(f"{name}: {values.mean():.2f} ± {error:.2f} dB, median {np.median(values):.2f}")
    print(f"n = {len(rows)}")


@torch.no_grad()
def losses(model, case: Case) -> tuple[float, float, float]:
    """In dB: what the band costs, and the gain on the mixture by the mask of the mixture as it
    was and by that of what was sent, both laid on what was sent."""
    sent, target = (sosfiltfilt(BAND, wave) for wave in (case.mixture, case.target))
    scale = MIXTURE_RMS / np.sqrt((sent**2).mean())
    sent, target = (np.float32(scale * wave) for wave in (sent, target))
    whole, narrow = (mask_of(model, wave, case.embedding) for wave in (case.mixture, sent))
    gains = [improvement(model, mask, sent, target) for mask in (whole, narrow)]
    return gains[0] - gains[1], *gains


def mask_of(model, mixture: np.ndarray, embedding: np.ndarray) -> torch.Tensor:
    """[1, frames, bins]."""
    waves, meanings = (torch.from_numpy(values)[None] for values in (mixture, embedding))
    return one_pass(model, waves, meanings, 1, gives_mask=True)[0]


def improvement(model, mask: torch.Tensor, sent: np.ndarray, target: np.ndarray) -> float:
    spectra = stft(torch.from_numpy(sent)[None], model.window)
    estimate = istft(spectra * mask, model.window, len(sent))[0].numpy()
    return si_sdr(estimate, target) - si_sdr(sent, target)


if __name__ == "__main__":
    main()
