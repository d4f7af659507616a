"""Measures a checkpoint on what it was never trained on: `python evaluate.py CACHE NAME`.

Two sources at 0 dB, phrasings that were held out, everything seeded. SI-SDR: J. Le Roux et al.,
ICASSP 2019; SDR as in AudioSep's evaluation, without any filter.
"""

import argparse
import copy
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from mixtures import (CONFUSABLE, MELODIC, MIXTURE_RMS, REAL, WORDS, Bank, Kept, decibels, level,
                      pick_band, read_notes)
from network import BANDS, PATCH, WINDOW, Separator, features, istft, presence, stft

SEED = 7
BINS = WINDOW // 2 + 1
COMMON = ["piano", "organ", "aguitar", "eguitar", "bass", "strings", "trumpet", "sax", "flute",
          "kit"]
"""What the first weights knew of instruments; the goal for instruments was set by these."""
QUALITY_PASSES = (1, 7 / 8, 9 / 8)
"""As in mini-lane.ts."""


@dataclass
class Case:
    """`target` is None where the prompt names what is not there."""

    name: str
    prompt: str
    embedding: np.ndarray
    mixture: np.ndarray
    target: np.ndarray | None


class Maker:
    """Cases from the clips of a split, in an order that the seed decides."""

    def __init__(self, cache: Path, split: str):
        self.bank = Bank(cache, split, "held_out")
        self.rng = np.random.default_rng(SEED)
        self.new = copy.copy(self.bank)
        self.new.clips = {name: untrained(cache, name, self.bank.clips[name]) for name in MELODIC}
        self.others = [name for name in self.bank.names
                       if name not in {*REAL, *MELODIC, "woman", "man", "kit"}]

    def pick(self, names, apart_from=()):
        """One of `names` that can be told from each of `apart_from`."""
        alike = set(apart_from).union(*(pair for pair in CONFUSABLE if pair & set(apart_from)))
        return str(self.rng.choice([name for name in names if name not in alike]))

    def clip(self, name, bank=None):
        return (bank or self.bank).clip(name, self.rng, augmented=False)

    def band(self):
        return self.ensemble(pick_band(self.bank, self.rng), 3)

    def ensemble(self, names, reach):
        """Clips of all of `names`, each up to `reach` dB louder or softer."""
        return sum(self.clip(name) * decibels(self.rng.uniform(-reach, reach)) for name in names)

    def case(self, key, target, company, louder=0.0):
        """`target` None: nothing of the mixture is `key`; else `louder` than the company, in dB."""
        rows = self.bank.embeddings[key]
        index = self.rng.integers(len(rows))
        other = level(company)
        sound = 0 if target is None else level(target) * np.float32(decibels(louder))
        mixture = sound + other
        scale = MIXTURE_RMS / np.sqrt((mixture ** 2).mean())
        kept = None if target is None else sound * np.float32(scale)
        return Case(key, WORDS[key]["held_out"][index], rows[index],
                    (mixture * scale).astype(np.float32), kept)

    def pair(self, names, company, key=None):
        name = self.pick(names)
        other = self.pick(company, [name])
        return self.case(key or name, self.clip(name), self.clip(other))


def untrained(cache: Path, name: str, clips: list[Kept]) -> list[Kept]:
    """Of an instrument's clips those by programs that no clip that was trained on is played by."""
    trained = {program(clip["origin"]) for clip in read_notes(cache, "train", name)["clips"]}
    return [clip for clip in clips if program(clip.origin) not in trained]


def program(origin: str) -> str:
    """As instruments.py writes it, whatever the sound font."""
    return origin.rpartition(", ")[2]


def test_cases(cache: Path, split: str = "test") -> dict[str, list[Case]]:
    """Category to its cases; without ESC-10 there are none of real sounds."""
    m = Maker(cache, split)
    speech = ["woman", "man"]
    real = [name for name in REAL if name in m.bank.names]

    def spoken():
        name = m.pick(speech)
        return m.pick([name, "speech"]), m.clip(name)

    made = {
        "real x real": [m.pair([name], real) for name in real for _ in range(6)],
        "speech in real": [m.case(*spoken(), m.clip(m.pick(real))) for _ in range(40) if real],
        "real in speech": [m.pair([name], speech) for name in real for _ in range(4)],
        "instrument x instrument": [m.pair([name], MELODIC) for name in MELODIC for _ in range(4)],
        "speech in music": [m.case(*spoken(), m.band()) for _ in range(40)],
        "music in speech": [m.case("music", m.band(), spoken()[1]) for _ in range(30)],
        "woman x man": [m.pair([name], [other]) for name, other in
                        (speech, speech[::-1]) for _ in range(20)],
        "other x any": [m.pair([name], m.bank.names) for name in m.others for _ in range(2)],
    }
    made["absent"] = [absent_case(m) for _ in range(60)]
    made["singing in music"] = [m.case("singing", m.clip("singing"), m.band()) for _ in range(30)]
    made["new program x instrument"] = [
        m.case(name, m.clip(name, m.new), m.clip(m.pick(MELODIC, [name])))
        for name in MELODIC if m.new.clips[name] for _ in range(4)]
    made["common instruments"] = [m.pair([name], COMMON) for name in COMMON for _ in range(5)]
    made["one of 3 or 4, ±10 dB"] = [one_of_several(m) for _ in range(80)]
    return {category: cases for category, cases in made.items() if cases}


def absent_case(m: Maker) -> Case:
    one = m.pick(m.bank.names)
    two = m.pick(m.bank.names, [one])
    key = m.pick(m.bank.names, [one, two])
    return m.case(key, None, m.clip(one) + m.clip(two))


def one_of_several(m: Maker) -> Case:
    """A sound among two or three others that are about as loud as each other."""
    names = [m.pick(m.bank.names)]
    for _ in range(m.rng.integers(2, 4)):
        names.append(m.pick(m.bank.names, names))
    others = m.ensemble(names[1:], 5)
    return m.case(names[0], m.clip(names[0]), others, m.rng.uniform(-10, 10))


@torch.no_grad()
def separate(model, mixtures, embeddings, passes=(1,)):
    """mixtures [batch, N] of RMS 0.1, embeddings [batch, 384] to targets [batch, N], all that is
    let through, and activity logits [batch, tokens], float32 throughout: the mean of passes in
    which the mixtures' rate is taken for another, relative to the true one."""
    heard = [one_pass(model, mixtures, embeddings, rate) for rate in passes]
    # Of activities at other tokens the mean is taken at the first pass's, as in mini-lane.ts.
    tokens = heard[0][1].shape[1]
    activity = sum(F.interpolate(logits[:, None], tokens, mode="linear")[:, 0]
                   for _, logits in heard) / len(passes)
    return sum(target for target, _ in heard) / len(passes), activity


def one_pass(model, mixtures, embeddings, rate):
    window = torch.hann_window(round(WINDOW * rate), device=model.window.device)
    spectra = stft(mixtures, window)
    frames, bins = spectra.shape[1:]
    power = (spectra.real ** 2 + spectra.imag ** 2) * (WINDOW / len(window)) ** 2
    audible = power[..., :BINS].sum((1, 2), keepdim=True) / power.sum((1, 2), keepdim=True)
    padding = (0, max(0, BINS - bins), 0, frames % PATCH)
    x = features(F.pad(power[..., :BINS] / audible, padding))
    spans = torch.zeros(len(x), x.shape[1], 2, device=x.device)
    logits, activity = model(x, embeddings, spans, 1)
    mask = mask_of(logits[:, :frames], bins)
    return istft(spectra * mask, window, mixtures.shape[1]), activity


def mask_of(logits, bins):
    """As in spectrum.ts: above the network's last bin the mean of its last band, smoothed."""
    mask = torch.sigmoid(logits)
    if bins <= BINS:
        return mask[..., :bins]
    column = mask[..., BINS - 1 - BANDS[-1]:BINS - 1].mean(-1, keepdim=True).transpose(1, 2)
    smooth = F.avg_pool1d(column, 5, 1, 2, count_include_pad=False).transpose(1, 2)
    return torch.cat([mask, smooth.expand(-1, -1, bins - BINS)], -1)


def si_sdr(estimate, target):
    """In dB, along the last axis."""
    energy = (target ** 2).sum(-1, keepdims=True)
    scale = (estimate * target).sum(-1, keepdims=True) / (energy + 1e-9)
    return sdr(estimate, scale * target)


def sdr(estimate, target):
    error = ((target - estimate) ** 2).sum(-1)
    return 10 * np.log10(((target ** 2).sum(-1) + 1e-9) / (error + 1e-9))


def measure(model, cases: list[Case], passes=(1,), size: int = 12) -> list[dict]:
    """A row for each case; the dB of what was let through where the sound is absent."""
    device, rows = model.window.device, []
    for start in range(0, len(cases), size):
        part = cases[start:start + size]
        mixture = np.stack([case.mixture for case in part])
        embedding = np.stack([case.embedding for case in part])
        estimate, activity = (y.cpu().numpy() for y in separate(
            model, torch.from_numpy(mixture).to(device), torch.from_numpy(embedding).to(device),
            passes))
        shares = presence(torch.from_numpy(activity)).numpy()
        for index, case in enumerate(part):
            row = {"name": case.name, "prompt": case.prompt, "match": float(activity[index].max())}
            rows.append(row | scores(estimate[index], shares[index], mixture[index], case.target))
    return rows


def scores(estimate, share, mixture, target) -> dict:
    """SI-SDR does not hear how loud the target is, and silence has none: it is the estimate's."""
    if target is None:
        passed = ((share * estimate) ** 2).sum() / (mixture ** 2).sum()
        return {"leak": float(10 * np.log10(passed + 1e-9))}
    company = mixture - target
    return {
        "si_sdri": float(si_sdr(estimate, target) - si_sdr(mixture, target)),
        "sdri": float(sdr(share * estimate, target) - sdr(mixture, target)),
        "follows": bool(si_sdr(estimate, target) > si_sdr(estimate, company)),
    }


def summary(model, cases: dict[str, list[Case]]) -> dict:
    """One point of a learning curve: mean SI-SDRi by category in dB, the median leak."""
    point, everything = {}, []
    for category, part in cases.items():
        rows = measure(model, part)
        if category == "absent":
            point["absent"] = round(float(np.median([row["leak"] for row in rows])), 1)
        else:
            everything += rows
            point[category] = round(float(np.mean([row["si_sdri"] for row in rows])), 2)
    point["all"] = round(float(np.mean([row["si_sdri"] for row in everything])), 2)
    point["follows"] = round(float(np.mean([row["follows"] for row in everything])), 3)
    return point


def report(results: dict[str, list[dict]]) -> str:
    """Tables in Markdown, for the model card."""
    lines = ["| two sources at 0 dB | n | SI-SDRi mean (median, quartiles) | SDRi mean | follows |",
             "|---|---|---|---|---|"]
    present = {name: rows for name, rows in results.items() if name != "absent"}
    present["all"] = [row for rows in present.values() for row in rows]
    for category, rows in present.items():
        gain = np.array([row["si_sdri"] for row in rows])
        low, middle, high = np.percentile(gain, (25, 50, 75))
        spread = f"{gain.mean():.1f} ({middle:.1f}, {low:.1f} to {high:.1f})"
        plain = np.mean([row["sdri"] for row in rows])
        follows = 100 * np.mean([row["follows"] for row in rows])
        lines.append(f"| {category} | {len(rows)} | {spread} | {plain:.1f} | {follows:.0f} % |")
    leaks = np.percentile([row["leak"] for row in results["absent"]], (25, 50, 75))
    lines += ["", "Absent sounds, energy of the target against the mixture, median (quartiles): "
              f"{leaks[1]:.1f} dB ({leaks[0]:.1f} to {leaks[2]:.1f})",
              "", match_report(results), "",
              "| prompt's class | n | SI-SDRi mean (least to most) |", "|---|---|---|"]
    by_class = {}
    for row in present["all"]:
        by_class.setdefault(row["name"], []).append(row["si_sdri"])
    for name, gains in sorted(by_class.items(), key=lambda item: -np.mean(item[1])):
        spread = f"{np.mean(gains):.1f} ({min(gains):.1f} to {max(gains):.1f})"
        lines.append(f"| {name} | {len(gains)} | {spread} |")
    return "\n".join(lines)


def match_report(results: dict[str, list[dict]]) -> str:
    """How well the match score tells present from absent."""
    present = [row["match"] for name, rows in results.items() if name != "absent" for row in rows]
    absent = [row["match"] for row in results["absent"]]
    order = np.mean([[p > a for a in absent] for p in present])
    hits, alarms = np.mean(np.array(present) > 0), np.mean(np.array(absent) > 0)
    return (f"Match score: a present sound scores above an absent one in {100 * order:.0f} % of "
            f"pairs; over one half for {100 * hits:.0f} % of present sounds and for "
            f"{100 * alarms:.0f} % of absent ones.")


def load_average(path: Path, device="cpu"):
    """The averaged weights of a checkpoint, ready to serve."""
    stored = torch.load(path, map_location=device)
    model = Separator(**stored["config"]).to(device)
    model.load_state_dict(stored["average"])
    return model.eval(), stored


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name")
    parser.add_argument("--quality", action="store_true", help="three passes, not one")
    options = parser.parse_args()
    model, stored = load_average(options.cache / f"{options.name}.pt")
    passes = QUALITY_PASSES if options.quality else (1,)
    results = {name: measure(model, cases, passes)
               for name, cases in test_cases(options.cache).items()}
    kind = "-quality" if options.quality else ""
    (options.cache / f"{options.name}{kind}-results.json").write_text(json.dumps(results))
    print(report(results))


if __name__ == "__main__":
    main()
