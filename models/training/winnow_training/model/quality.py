"""What a mask tells of how good the target is that it makes, without any reference."""

import torch

from winnow_training.model.network import PATCH

EPSILON = 1e-9


def expected_sdr(mask: torch.Tensor, power: torch.Tensor) -> float:
    """In dB, of a mask and the mixture's power, [frames, bins] each.

    Were the mask the target's share of every bin, as Wiener's filter has it, of a bin's power P
    m² P would be let through and m (1 - m) P of that be wrong.
    """
    return decibels_of((mask**2 * power).sum(), (mask * (1 - mask) * power).sum())


def features_of(mask, power, activity, match: float) -> dict[str, float]:
    """By name, of one target: `activity` are its logits [tokens], `match` is a logit."""
    passed, wrong, rest = (
        (part * power).sum() for part in (mask**2, mask * (1 - mask), (1 - mask) ** 2)
    )
    entropy = -(mask * torch.log2(mask + EPSILON) + (1 - mask) * torch.log2(1 - mask + EPSILON))
    weights = mask * power
    whole = weights.sum() + EPSILON
    frames = (mask**2 * power).sum(1)
    sure = activity.clamp(-9, 9).repeat_interleave(PATCH)[: len(mask)]
    return {
        "expected SDR": expected_sdr(mask, power),
        "entropy of the mask": float((entropy * weights).sum() / whole),
        "share over 0.9": float((weights * (mask > 0.9)).sum() / whole),
        "target's share, dB": decibels_of(passed, power.sum()),
        "match": match,
        "activity": float((sure * frames).sum() / (frames.sum() + EPSILON)),
        "correlation with the residual": float(wrong / torch.sqrt(passed * rest + EPSILON)),
        "change in time": float(((mask[1:] - mask[:-1]).abs() * power[1:]).sum() / whole),
    }


def decibels_of(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(10 * torch.log10((one + EPSILON) / (other + EPSILON)))
