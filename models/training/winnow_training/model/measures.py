"""How well a model separates cases.

SI-SDR: J. Le Roux et al., ICASSP 2019; SDR as in AudioSep's evaluation, without any filter.
"""

import numpy as np
import torch
import torch.nn.functional as F

from winnow_training.data.cases import Case
from winnow_training.model.network import (
    PATCH,
    features,
    istft,
    match_of,
    presence,
    stft,
)

SILENCED_DB = -60
"""Against the mixture: a present target under it is answered with silence."""


@torch.no_grad()
def separate(model, mixtures, embeddings):
    """mixtures [batch, N] of RMS 0.1, embeddings [batch·queries, 384] to targets
    [batch·queries, N], all that is let through, and activity logits [batch·queries, tokens].
    Float32 throughout."""
    mask, activity, spectra = masks_of(model, mixtures, embeddings)
    spectra = spectra.repeat_interleave(len(embeddings) // len(mixtures), 0)
    return istft(spectra * mask, model.window, mixtures.shape[1]), activity


def masks_of(model, mixtures, embeddings):
    """As `separate`, to masks [batch·queries, frames, bins] in place of the targets, and with the
    spectra [batch, frames, bins] of the mixtures."""
    spectra = stft(mixtures, model.window)
    frames = spectra.shape[1]
    power = spectra.real**2 + spectra.imag**2
    x = features(F.pad(power, (0, 0, 0, frames % PATCH)))
    spans = torch.zeros(len(embeddings), x.shape[1], 2, device=x.device)
    logits, activity = model(x, embeddings, spans, len(embeddings) // len(mixtures))
    return torch.sigmoid(logits[:, :frames]), activity, spectra


def si_sdr(estimate, target):
    """In dB, along the last axis."""
    energy = (target**2).sum(-1, keepdims=True)
    scale = (estimate * target).sum(-1, keepdims=True) / (energy + 1e-9)
    return sdr(estimate, scale * target)


def sdr(estimate, target):
    error = ((target - estimate) ** 2).sum(-1)
    return 10 * np.log10(((target**2).sum(-1) + 1e-9) / (error + 1e-9))


def measure(model, cases: list[Case], size: int = 12) -> list[dict]:
    """A row for each case; the dB of what was let through where the sound is absent."""
    device, rows = model.window.device, []
    for start in range(0, len(cases), size):
        part = cases[start : start + size]
        mixture, embedding = (
            torch.from_numpy(np.stack(column)).to(device)
            for column in ([case.mixture for case in part], [case.embedding for case in part])
        )
        estimate, activity = separate(model, mixture, embedding)
        match = match_of(activity, estimate, mixture)
        columns = (y.cpu().numpy() for y in (estimate, presence(match), match))
        for case, target, gain, probability in zip(part, *columns):
            row = {"name": case.name, "prompt": case.prompt, "match": float(probability)}
            rows.append(row | scores(target, gain, case.mixture, case.target))
    return rows


def scores(estimate, share, mixture, target) -> dict:
    """SI-SDR does not depend on the target's level and is undefined for silence: it is measured
    before `presence` scales the estimate."""
    if target is None:
        passed = ((share * estimate) ** 2).sum() / (mixture**2).sum()
        return {"leak": float(10 * np.log10(passed + 1e-9))}
    company = mixture - target
    passed = ((share * estimate) ** 2).sum() / (mixture**2).sum()
    return {
        "is_silenced": bool(passed < 10 ** (SILENCED_DB / 10)),
        "si_sdri": float(si_sdr(estimate, target) - si_sdr(mixture, target)),
        "sdri": float(sdr(share * estimate, target) - sdr(mixture, target)),
        "follows": bool(si_sdr(estimate, target) > si_sdr(estimate, company)),
    }


def is_present(rows: list[dict]) -> bool:
    """Returns whether these are of sounds that are there."""
    return "si_sdri" in rows[0]


def summary(model, cases: dict[str, list[Case]]) -> dict:
    """One point of a learning curve: mean SI-SDRi by category in dB, the median leak."""
    point, everything = {}, []
    for category, part in cases.items():
        rows = measure(model, part)
        if is_present(rows):
            everything += rows
            point[category] = round(float(np.mean([row["si_sdri"] for row in rows])), 2)
        else:
            point[category] = round(float(np.median([row["leak"] for row in rows])), 1)
    point["all"] = round(float(np.mean([row["si_sdri"] for row in everything])), 2)
    point["follows"] = round(float(np.mean([row["follows"] for row in everything])), 3)
    return point
