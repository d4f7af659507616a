"""Two channels: what the network reads of them, and how its masks become a filter. The same is done
in mid-side.ts and spatial-filter.ts.
"""

import torch

from winnow_training.data.mixtures import MIXTURE_RMS
from winnow_training.model.measures import masks_of
from winnow_training.model.network import istft, stft

EMPTY = 1e-3
"""A view that is this much weaker than the other, as power, holds no sound of its own."""
DIFFUSE = 1e-3
"""Share of each covariance that is the same from everywhere: keeps them invertible."""


@torch.no_grad()
def separate_stereo(model, mixture, embedding):
    """mixture [2, N], embedding [384] to the target [2, N] and activity logits [tokens]."""
    left, right = mixture
    views = [(left + right) / 2, (left - right) / 2]
    powers = [view.pow(2).sum() for view in views]
    loudest = max(powers)
    audible = [index for index, power in enumerate(powers) if power > EMPTY * loudest] or [0]
    answers = [of_view(model, views[index], embedding) for index in audible]
    spectrum = stft(mixture, model.window)
    middle, side = (spectrum[0] + spectrum[1]) / 2, (spectrum[0] - spectrum[1]) / 2
    weights = [((middle, side)[index].abs() ** 2) for index in audible]
    total = sum(weights)
    joined = sum(weight * mask for weight, (mask, _) in zip(weights, answers))
    mask = answers[0][0] if len(audible) == 1 else torch.where(total > 0, joined / total, 0.0)
    target = istft(filter_by_place(spectrum, mask), model.window, mixture.shape[1])
    return target, torch.stack([activity for _, activity in answers]).amax(0)


def of_view(model, view, embedding):
    """A view [N] to its mask [frames, bins] and activity logits [tokens]."""
    scale = MIXTURE_RMS / (view.pow(2).mean().sqrt() + 1e-6)
    mask, activity, _ = masks_of(model, (view * scale)[None], embedding[None])
    return mask[0], activity[0]


def filter_by_place(spectrum, mask):
    """spectrum complex [2, frames, bins], mask [frames, bins] to complex [2, frames, bins]: the
    multichannel Wiener filter of a target and the rest, whose spatial covariances the mask gives
    (N. Duong, E. Vincent, R. Gribonval, 2010). If both come from one place it is the mask."""
    left, right = spectrum
    t_left, t_right, t_cross = covariance(left, right, mask)
    r_left, r_right, r_cross = covariance(left, right, 1 - mask)
    a_left = mask * t_left + (1 - mask) * r_left
    a_right = mask * t_right + (1 - mask) * r_right
    a_cross = mask * t_cross + (1 - mask) * r_cross
    gain = mask / (a_left * a_right - a_cross.abs() ** 2)
    first = a_right * left - a_cross * right
    second = a_left * right - a_cross.conj() * left
    return torch.stack(
        [
            gain * (t_left * first + t_cross * second),
            gain * (t_cross.conj() * first + t_right * second),
        ]
    )


def covariance(left, right, mask):
    """Covariance of the sound that the mask lets through, where it lets much through most; [bins]
    each."""
    weight = mask**4
    left_power = (weight * left.abs() ** 2).sum(0)
    right_power = (weight * right.abs() ** 2).sum(0)
    cross = (weight * (left * right.conj())).sum(0)
    power = (left_power + right_power) / 2
    share = torch.where(power > 0, 1 / power, 0.0)
    return left_power * share + DIFFUSE, right_power * share + DIFFUSE, cross * share
