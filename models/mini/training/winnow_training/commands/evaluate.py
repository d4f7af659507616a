"""Measures a checkpoint on what it was never trained on: `python evaluate.py CACHE NAME`. NAME may
also be a folder of served weights.

Two sources at 0 dB, phrasings that were held out, everything seeded; first real recordings, if
there are banks of them, by speakers and instruments that were held out, then what the recipe makes.
SI-SDR: J. Le Roux et al., ICASSP 2019; SDR as in AudioSep's evaluation, without any filter.
"""

import argparse
import copy
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from winnow_training.data.audio import RATE, RECORDINGS
from winnow_training.data.mixtures import (CONFUSABLE, GROUPS, MELODIC, MIXTURE_RMS, REAL, SAMPLES, UNSURE, WORDS, Bank,
                      Kept, decibels, level, pick_band, read_notes)
from winnow_training.model.network import BANDS, PATCH, WINDOW, Separator, features, istft, presence, stft

SEED = 7
BINS = WINDOW // 2 + 1
COMMON = ["piano", "organ", "aguitar", "eguitar", "bass", "strings", "trumpet", "sax", "flute",
          "kit"]
"""What the first weights knew of instruments; the goal for instruments was set by these."""
QUALITY_PASSES = (1, 7 / 8, 9 / 8)
"""As in mini-lane.ts."""
SPEECH = ["woman", "man"]
RECORDED_SAMPLES = 5 * RATE
RECORDED_CASES = 60
"""Of each kind of mixture of real recordings."""
SILENCED_DB = -60
"""Against the mixture: a present target under it is answered with silence."""


@dataclass
class Case:
    """`target` is None where the prompt names what is not there."""

    name: str
    prompt: str
    embedding: np.ndarray
    mixture: np.ndarray
    target: np.ndarray | None


class Maker:
    """Cases of `samples` from the clips of a bank, in an order that the seed decides."""

    def __init__(self, bank: Bank, samples: int = SAMPLES):
        self.bank, self.samples = bank, samples
        self.rng = np.random.default_rng(SEED)
        self.others = [name for name in self.bank.names
                       if name not in {*REAL, *MELODIC, *SPEECH, "kit"}]

    def pick(self, names, apart_from=()):
        """One of `names` that can be told from each of `apart_from`."""
        alike = set(apart_from).union(*(pair for pair in CONFUSABLE if pair & set(apart_from)))
        return str(self.rng.choice([name for name in names if name not in alike]))

    def clip(self, name, bank=None):
        return (bank or self.bank).clip(name, self.rng, False, self.samples)

    def spoken(self):
        """A prompt for a voice, and the voice."""
        name = self.pick(SPEECH)
        return self.pick([name, "speech"]), self.clip(name)

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
    m = Maker(Bank(cache, split, "held_out"))
    new = copy.copy(m.bank)
    new.clips = {name: untrained(cache, name, m.bank.clips[name]) for name in MELODIC}
    real = [name for name in REAL if name in m.bank.names]
    made = {
        "real x real": [m.pair([name], real) for name in real for _ in range(6)],
        "speech in real": [m.case(*m.spoken(), m.clip(m.pick(real))) for _ in range(40) if real],
        "real in speech": [m.pair([name], SPEECH) for name in real for _ in range(4)],
        "instrument x instrument": [m.pair([name], MELODIC) for name in MELODIC for _ in range(4)],
        "speech in music": [m.case(*m.spoken(), m.band()) for _ in range(40)],
        "music in speech": [m.case("music", m.band(), m.spoken()[1]) for _ in range(30)],
        "woman x man": [m.pair([name], [other]) for name, other in
                        (SPEECH, SPEECH[::-1]) for _ in range(20)],
        "other x any": [m.pair([name], m.bank.names) for name in m.others for _ in range(2)],
    }
    made["absent"] = [absent_case(m) for _ in range(60)]
    made["singing in music"] = [m.case("singing", m.clip("singing"), m.band()) for _ in range(30)]
    made["new program x instrument"] = [
        m.case(name, m.clip(name, new), m.clip(m.pick(MELODIC, [name])))
        for name in MELODIC if new.clips[name] for _ in range(4)]
    made["common instruments"] = [m.pair([name], COMMON) for name in COMMON for _ in range(5)]
    made["one of 3 or 4, ±10 dB"] = [one_of_several(m) for _ in range(80)]
    return {category: cases for category, cases in made.items() if cases}


def recorded_cases(cache: Path, split: str = "test") -> dict[str, list[Case]]:
    """As `test_cases`, of real recordings; none where the cache has no banks of them."""
    if not (cache / RECORDINGS).is_dir():
        return {}
    m = Maker(Bank(cache, split, "held_out", is_recorded=True), RECORDED_SAMPLES)
    played = [name for name in m.bank.names if name in MELODIC]
    music = GROUPS["music"] | UNSURE["music"]
    sounds = [name for name in m.bank.names if name not in {*music, *SPEECH, "crowd"}]
    pitched = [name for name in played if name not in {"congas", "tambourine", "timpani"}]
    no_drums = [name for name in played if name not in UNSURE["drums"]]

    def each(names, company):
        """Every one of `names` as the target, in turn, until there are cases enough."""
        return [m.pair([names[number % len(names)]], company) for number in range(RECORDED_CASES)]

    turns = range(RECORDED_CASES)
    made = {
        "speech in everyday sounds": [m.case(*m.spoken(), m.clip(m.pick(sounds))) for _ in turns],
        "everyday sounds in speech": each(sounds, SPEECH),
        "speech in an instrument": [m.case(*m.spoken(), m.clip(m.pick(played))) for _ in turns],
        "an instrument in speech": each(played, SPEECH),
        "woman x man": each(["woman"], ["man"]),
        "man x woman": each(["man"], ["woman"]),
        "instrument x instrument": each(played, played) + each(played, played),
        "pitched x pitched instrument": each(pitched, pitched) + each(pitched, pitched),
        "drums from an instrument": [m.case("drums", m.clip("kit"), m.clip(m.pick(no_drums)))
                                     for _ in turns],
        "absent": [absent_case(m) for _ in [*turns, *turns]],
    }
    return {f"recorded: {category}": cases for category, cases in made.items()}


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
    passed = ((share * estimate) ** 2).sum() / (mixture ** 2).sum()
    return {
        "is_silenced": bool(passed < 10 ** (SILENCED_DB / 10)),
        "si_sdri": float(si_sdr(estimate, target) - si_sdr(mixture, target)),
        "sdri": float(sdr(share * estimate, target) - sdr(mixture, target)),
        "follows": bool(si_sdr(estimate, target) > si_sdr(estimate, company)),
    }


def is_present(rows: list[dict]) -> bool:
    """Whether these are of sounds that are there."""
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


def report(results: dict[str, list[dict]]) -> str:
    """Tables in Markdown, for the model card: real recordings, then what the recipe makes."""
    parts = [{category: rows for category, rows in results.items()
              if category.startswith("recorded: ") == is_real} for is_real in (True, False)]
    return "\n\n".join(tables(part) for part in parts if part)


def tables(results: dict[str, list[dict]]) -> str:
    """A row for each category, what is absent, the match score, and a row for each class."""
    lines = ["| two sources at 0 dB | n | SI-SDRi mean ± standard error (median, quartiles) "
             "| SDRi mean | improved | follows | silenced |",
             "|---|---|---|---|---|---|---|"]
    present = {name: rows for name, rows in results.items() if is_present(rows)}
    absent = [row for name, rows in results.items() if name not in present for row in rows]
    everything = [row for rows in present.values() for row in rows]
    lines += [table_row(name, rows) for name, rows in [*present.items(), ("all", everything)]]
    leaks = np.percentile([row["leak"] for row in absent], (25, 50, 75))
    lines += ["", "Absent sounds, energy of the target against the mixture, median (quartiles): "
              f"{leaks[1]:.1f} dB ({leaks[0]:.1f} to {leaks[2]:.1f})",
              "", match_report(everything, absent), "",
              "| prompt's class | n | SI-SDRi mean (least to most) |", "|---|---|---|"]
    by_class = {}
    for row in everything:
        by_class.setdefault(row["name"], []).append(row["si_sdri"])
    for name, gains in sorted(by_class.items(), key=lambda item: -np.mean(item[1])):
        spread = f"{np.mean(gains):.1f} ({min(gains):.1f} to {max(gains):.1f})"
        lines.append(f"| {name} | {len(gains)} | {spread} |")
    return "\n".join(lines)


def table_row(category: str, rows: list[dict]) -> str:
    gain = np.array([row["si_sdri"] for row in rows])
    error = gain.std(ddof=1) / len(gain) ** 0.5
    low, middle, high = np.percentile(gain, (25, 50, 75))
    spread = f"{gain.mean():.1f} ± {error:.1f} ({middle:.1f}, {low:.1f} to {high:.1f})"
    plain = np.mean([row["sdri"] for row in rows])
    improved = 100 * np.mean(gain > 0)
    follows = 100 * np.mean([row["follows"] for row in rows])
    silenced = sum(row["is_silenced"] for row in rows)
    return (f"| {category} | {len(rows)} | {spread} | {plain:.1f} | {improved:.0f} % "
            f"| {follows:.0f} % | {silenced} |")


def match_report(present: list[dict], absent: list[dict]) -> str:
    """How well the match score tells present from absent."""
    present, absent = ([row["match"] for row in rows] for rows in (present, absent))
    order = np.mean([[p > a for a in absent] for p in present])
    hits, alarms = np.mean(np.array(present) > 0), np.mean(np.array(absent) > 0)
    return (f"Match score: a present sound scores above an absent one in {100 * order:.0f} % of "
            f"pairs; over one half for {100 * hits:.0f} % of present sounds and for "
            f"{100 * alarms:.0f} % of absent ones.")


def load_average(path: Path, device="cpu"):
    """The averaged weights of a checkpoint or a folder of served ones, ready to serve."""
    stored = read_served(path) if path.is_dir() else torch.load(path, map_location=device)
    model = Separator(**stored["config"]).to(device)
    model.load_state_dict(stored["average"])
    return model.eval(), stored


def read_served(folder: Path) -> dict:
    """What export.py wrote, as a checkpoint holds it: without the optimizers' state, rounded to
    float16."""
    config = json.loads((folder / "config.json").read_text())
    state = {name: tensor.float() for name, tensor in
             load_file(folder / "model.safetensors").items()}
    return dict(config=config["model"], model=state, average=state, optimizers=[],
                **config["training"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    parser.add_argument("--quality", action="store_true", help="three passes, not one")
    parser.add_argument("--split", choices=["test", "train"], default="test",
                        help="train: clips that were trained on, to see what more would bring")
    parser.add_argument("--only", choices=["recorded", "made"], help="one of the two tables")
    options = parser.parse_args()
    is_served = Path(options.name).is_dir()
    model, _ = load_average(Path(options.name) if is_served
                            else options.cache / f"{options.name}.pt")
    passes = QUALITY_PASSES if options.quality else (1,)
    kinds = {"recorded": recorded_cases, "made": test_cases}
    results = {name: measure(model, cases, passes)
               for kind, make in kinds.items() if options.only in (kind, None)
               for name, cases in make(options.cache, options.split).items()}
    name = "served" if is_served else options.name
    kind = ("-quality" if options.quality else "") + ("-train" if options.split == "train" else "")
    (options.cache / f"{name}{kind}-results.json").write_text(json.dumps(results))
    print(report(results))


if __name__ == "__main__":
    main()
