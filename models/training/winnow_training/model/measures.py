"""How well a model separates cases.

SI-SDR: J. Le Roux et al., ICASSP 2019; SDR as in AudioSep's evaluation, without any filter.
"""

import numpy as np
import torch
import torch.nn.functional as F

from winnow_training.data.cases import Case
from winnow_training.model.network import (
    BANDS,
    PATCH,
    WINDOW,
    features,
    istft,
    match_of,
    presence,
    stft,
)

BINS = WINDOW // 2 + 1
SILENCED_DB = -60
"""Against the mixture: a present target under it is answered with silence."""


@torch.no_grad()
def separate(model, mixtures, embeddings, passes=(1,)):
    """mixtures [batch, N] of RMS 0.1, embeddings [batch·queries, 384] to targets
    [batch·queries, N], all that is let through: the mean of passes in which the mixtures' rate is
    taken for another, relative to the true one. And what decides the match, of the first pass
    alone: its targets and its activity logits [batch·queries, tokens]. Float32 throughout."""
    results = [one_pass(model, mixtures, embeddings, rate) for rate in passes]
    return sum(target for target, _ in results) / len(passes), results[0]


def one_pass(model, mixtures, embeddings, rate, gives_mask=False):
    """As `separate`, of one pass; or masks [batch, frames, bins] in place of the targets."""
    window = torch.hann_window(round(WINDOW * rate), device=model.window.device)
    spectra = stft(mixtures, window)
    frames, bins = spectra.shape[1:]
    power = (spectra.real**2 + spectra.imag**2) * (WINDOW / len(window)) ** 2
    share = power[..., :BINS].sum((1, 2), keepdim=True) / power.sum((1, 2), keepdim=True)
    padding = (0, max(0, BINS - bins), 0, frames % PATCH)
    x = features(F.pad(power[..., :BINS] / share, padding))
    spans = torch.zeros(len(embeddings), x.shape[1], 2, device=x.device)
    queries = len(embeddings) // len(mixtures)
    logits, activity = model(x, embeddings, spans, queries)
    mask = mask_of(logits[:, :frames], bins)
    if gives_mask:
        return mask, activity
    spectra = spectra.repeat_interleave(queries, 0)
    return istft(spectra * mask, window, mixtures.shape[1]), activity


def mask_of(logits, bins):
    """As in spectrum.ts: above the network's last bin the mean of its last band, smoothed."""
    mask = torch.sigmoid(logits)
    if bins <= BINS:
        return mask[..., :bins]
    column = mask[..., BINS - 1 - BANDS[-1] : BINS - 1].mean(-1, keepdim=True).transpose(1, 2)
    smooth = F.avg_pool1d(column, 5, 1, 2, count_include_pad=False).transpose(1, 2)
    return torch.cat([mask, smooth.expand(-1, -1, bins - BINS)], -1)


def si_sdr(estimate, target):
    """In dB, along the last axis."""
    energy = (target**2).sum(-1, keepdims=True)
    scale = (estimate * target).sum(-1, keepdims=True) / (energy + 1e-9)
    return sdr(estimate, scale * target)


def sdr(estimate, target):
    error = ((target - estimate) ** 2).sum(-1)
    return 10 * np.log10(((target**2).sum(-1) + 1e-9) / (error + 1e-9))


def measure(model, cases: list[Case], passes=(1,), size: int = 12) -> list[dict]:
    """A row for each case; the dB of what was let through where the sound is absent."""
    device, rows = model.window.device, []
    for start in range(0, len(cases), size):
        part = cases[start : start + size]
        mixture, embedding = (
            torch.from_numpy(np.stack(column)).to(device)
            for column in ([case.mixture for case in part], [case.embedding for case in part])
        )
        estimate, (first, activity) = separate(model, mixture, embedding, passes)
        match = match_of(activity, first, mixture)
        found = (y.cpu().numpy() for y in (estimate, presence(match), match))
        for case, target, gain, probability in zip(part, *found):
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
