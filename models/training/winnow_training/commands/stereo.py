"""Measures two channels' gain: `mini-stereo CACHE NAME`, on real recordings placed left and right.

Side by side: one mask from the mean of the channels, for both; the same with the filter by place;
and that with the side read too, as mini-lane.ts does it. Last what is left where the prompt is for
a sound that is in neither place.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from scipy.signal import fftconvolve

from winnow_training.data.audio import RATE
from winnow_training.data.cases import RECORDED_SAMPLES, SPEECH, Maker
from winnow_training.data.mixtures import CONFUSABLE, GROUPS, MELODIC, MIXTURE_RMS, UNSURE, Bank
from winnow_training.data.rooms import room
from winnow_training.model.checkpoints import load_average, weights_path
from winnow_training.model.measures import si_sdr
from winnow_training.model.network import istft, match_of, presence, stft
from winnow_training.model.stereo import filter_by_place, masks_of, separate_stereo

CENTRE, SIDES = 45, (0, 90)
"""Degrees: 0 is the left channel alone."""
APART = 15
"""Degrees between two sounds, at the least."""
SEED = 21
EAR_SECONDS = 0.00045
"""How much earlier a sound on one side reaches that ear."""
ECHOES = 0.5
QUIET_DB = -10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    parser.add_argument("--split", choices=["test", "train"], default="test")
    parser.add_argument("--count", type=int, default=40, help="mixtures of each kind")
    options = parser.parse_args()
    model, _ = load_average(weights_path(options.cache, options.name))
    maker = Maker(
        Bank(options.cache, options.split, "held_out", is_recorded=True), RECORDED_SAMPLES
    )
    rng, absent_rng = np.random.default_rng(SEED), np.random.default_rng(SEED + 1)
    leaks = []
    print("| placed | mean's mask | filtered | and the side read: SI-SDRi | gain |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        rows = []
        for number in range(options.count):
            mixture, target, embedding, names = case(maker, rng, kind, number)
            rows.append(gains(model, mixture, target, embedding))
            leaks.append(leak(model, mixture, absent_prompt(maker.bank, names, absent_rng)))
        found = np.array(rows)
        gain = found[:, 2] - found[:, 0]
        error = gain.std(ddof=1) / len(gain) ** 0.5
        means = " | ".join(f"{mean:.1f}" for mean in found.mean(0))
        print(f"| {kind} | {means} | {gain.mean():.1f} ± {error:.1f} |", flush=True)
    low, middle, high = np.percentile(leaks, (25, 50, 75))
    print(f"absent sounds (n = {len(leaks)}): {middle:.1f} dB ({low:.1f} to {high:.1f})")


def panned(sound, degrees):
    angle = np.deg2rad(degrees)
    return np.stack([np.cos(angle) * sound, np.sin(angle) * sound])


def in_a_room(sound, degrees, rng):
    """Nearer to one ear, and with other echoes at each."""
    late = round((degrees - CENTRE) / CENTRE * EAR_SECONDS * RATE)
    ears = [delayed(sound, max(0, late)), delayed(sound, max(0, -late))]
    angle = np.deg2rad(degrees)
    placed = [np.cos(angle) * ears[0], np.sin(angle) * ears[1]]
    for ear in placed:
        echo = room(rng)
        echo[0] = 0
        ear += ECHOES * fftconvolve(sound, echo)[: len(sound)]
    return np.stack(placed)


def delayed(sound, samples):
    return np.concatenate([np.zeros(samples, np.float32), sound[: len(sound) - samples]])


def apart(rng, low, high):
    one, two = rng.uniform(low, high, 2)
    return (one, two) if abs(one - two) > APART else apart(rng, low, high)


def place_panned(target, other, rng):
    one, two = apart(rng, *SIDES)
    return panned(target, one), panned(other, two)


def place_in_a_room(target, other, rng):
    one, two = apart(rng, 10, 80)
    return in_a_room(target, one, rng), in_a_room(other, two, rng)


KINDS = {
    "at two places": place_panned,
    "at two places of a room": place_in_a_room,
    "target on one side": lambda target, other, rng: (
        panned(target, rng.choice(SIDES)),
        panned(other, CENTRE),
    ),
    "quiet target on one side": lambda target, other, rng: (
        panned(target, rng.choice(SIDES)) * 10 ** (QUIET_DB / 20),
        panned(other, CENTRE),
    ),
    "the other on one side": lambda target, other, rng: (
        panned(target, CENTRE),
        panned(other, rng.choice(SIDES)),
    ),
    "target in the difference": lambda target, other, rng: (
        panned(target, -CENTRE),
        panned(other, CENTRE),
    ),
    "both in the middle": lambda target, other, rng: (
        panned(target, CENTRE),
        panned(other, CENTRE),
    ),
}


def case(m: Maker, rng, kind, number):
    """Mixture and target [2, N], the prompt's embedding and the classes of both sounds: in turn
    speech in and under everyday sounds and instruments, and an instrument in another."""
    music = GROUPS["music"] | UNSURE["music"]
    sounds = [name for name in m.bank.names if name not in {*music, *SPEECH, "crowd"}]
    played = [name for name in m.bank.names if name in MELODIC]
    pairs = [(SPEECH, sounds), (sounds, SPEECH), (SPEECH, played), (played, SPEECH)]
    ours, theirs = [*pairs, (played, played)][number % 5]
    name = m.pick(ours)
    other = m.pick(theirs, [name])
    target, company = KINDS[kind](m.clip(name), m.clip(other), rng)
    mixture = target + company
    scale = MIXTURE_RMS / np.sqrt((mixture**2).mean())
    rows = m.bank.embeddings[name]
    embedding = rows[m.rng.integers(len(rows))]
    mixture, target = (np.float32(scale * wave) for wave in (mixture, target))
    return torch.from_numpy(mixture), target, torch.from_numpy(embedding), [name, other]


def absent_prompt(bank: Bank, present: list[str], rng):
    """Embedding of a prompt for a class that nothing of the mixture sounds like."""
    alike = set(present).union(*(pair for pair in CONFUSABLE if pair & set(present)))
    rows = bank.embeddings[str(rng.choice([name for name in bank.names if name not in alike]))]
    return torch.from_numpy(rows[rng.integers(len(rows))])


@torch.no_grad()
def leak(model, mixture, embedding) -> float:
    """In dB of the mixture, what is left of a target that is absent."""
    target, activity = separate_stereo(model, mixture, embedding)
    target *= presence(match_of(activity[None], target[None], mixture[None]))
    return float(10 * torch.log10(target.pow(2).sum() / mixture.pow(2).sum() + 1e-12))


@torch.no_grad()
def gains(model, mixture, target, embedding) -> list[float]:
    """SI-SDRi over both channels, of the three ways."""
    spectrum = stft(mixture, model.window)
    mask, _ = masks_of(model, mixture.mean(0), embedding)
    ways = [
        istft(spectrum * mask, model.window, mixture.shape[1]),
        istft(filter_by_place(spectrum, mask), model.window, mixture.shape[1]),
        separate_stereo(model, mixture, embedding)[0],
    ]
    before = si_sdr(mixture.numpy().ravel(), target.ravel())
    return [float(si_sdr(way.numpy().ravel(), target.ravel()) - before) for way in ways]


if __name__ == "__main__":
    main()
