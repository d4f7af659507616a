"""The loss of training, all of it on real numbers: no inverse transform is needed.

With a real mask M, |S - MX|² = |S|² - 2M·Re(S·X*) + M²|X|².
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from winnow_training.data.mixtures import TOKENS
from winnow_training.model.network import PATCH, features, stft

FRAMES = TOKENS * PATCH
SNR_FLOOR = 1e-3
"""Beyond 30 dB of a present source nothing is gained …"""
ABSENT_FLOOR = 1e-4
"""… nor beyond 40 dB below the mixture where the sound is absent."""
ENERGY_WEIGHT = 0.2
MAGNITUDE_WEIGHT = 1.0
ACTIVITY_WEIGHT = 0.3
MATCH_WEIGHT = 0.3


@dataclass
class Truth:
    """Everything [batch·queries, …]."""

    mixture: torch.Tensor
    """|X|², [..., frames, 1025]."""
    target: torch.Tensor
    """|S|²."""
    cross: torch.Tensor
    """Re(S·X*)."""
    absent: torch.Tensor
    activity: torch.Tensor
    """[..., tokens]."""


def inputs(window, mixture, targets, absent, activity):
    """Features [batch, tokens, PATCH, 1024] of mixtures [batch, N], and the truth of targets
    [batch, queries, N]."""
    queries = targets.shape[1]
    x = stft(mixture, window)[:, :FRAMES]
    s = stft(targets.flatten(0, 1), window)[:, :FRAMES]
    power = x.real**2 + x.imag**2
    x_each = x.repeat_interleave(queries, 0)
    cross = s.real * x_each.real + s.imag * x_each.imag
    truth = Truth(
        power.repeat_interleave(queries, 0),
        s.real**2 + s.imag**2,
        cross,
        absent.flatten(),
        activity.flatten(0, 1),
    )
    return features(power), truth


def loss(logits, activity, mixture, target, cross, absent, truth_activity):
    """The loss; the sum over present targets of the error in dB; that over absent ones of what
    was let through, in dB.

    Absent targets teach the activity alone, which closes the mask. Trained on them, the mask itself
    would shut wherever presence is a guess: shutting always pays, and what is shut learns nothing
    any more. The difference of energies, in dB, opens it again."""
    mask = torch.sigmoid(logits.float())
    passed = mask * mask * mixture
    target_energy, mixture_energy = target.sum((1, 2)), mixture.sum((1, 2))
    error = (target - 2 * mask * cross + passed).sum((1, 2)).clamp_min(0)
    scale = target_energy + 1e-6 * mixture_energy
    snr = 10 * torch.log10((error + SNR_FLOOR * target_energy) / scale + 1e-8)
    passed_energy = passed.sum((1, 2))
    leak = 10 * torch.log10(passed_energy / mixture_energy + ABSENT_FLOOR)
    floor = ABSENT_FLOOR * mixture_energy
    energy = 10 * torch.log10((passed_energy + floor) / (target_energy + floor)).abs()
    roots = ((y + 1e-6).sqrt().sqrt() for y in (passed, target))
    distance = (next(roots) - next(roots)).abs().mean((1, 2))
    distance = distance / (mixture + 1e-6).sqrt().sqrt().mean((1, 2))
    present = 1 - absent
    separated = 0.1 * (snr + ENERGY_WEIGHT * energy) + MAGNITUDE_WEIGHT * distance
    activity_loss = F.binary_cross_entropy_with_logits(activity.float(), truth_activity)
    match = F.binary_cross_entropy_with_logits(activity.float().amax(1), 1 - absent)
    total = (separated * present).mean() + ACTIVITY_WEIGHT * activity_loss + MATCH_WEIGHT * match
    return total, (snr * present).sum().detach(), (leak * absent).sum().detach()
