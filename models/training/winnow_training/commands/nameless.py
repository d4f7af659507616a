"""Prompts for sounds that the network has no name for: `mini-nameless CACHE NAME`.

First how well the nearness of a prompt's nearest name tells known sounds from others, by halves of
the held-out phrasings and of nameless.json: the threshold (NEARNESS_MIN in understand.ts) was
chosen by the first halves. Then what to answer such a prompt with, measured on sounds of SOUNDS
beside real recordings that are held out.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from winnow_training.commands.prompts import TEMPLATES
from winnow_training.data.audio import RATE, RECORDINGS, high_pass
from winnow_training.data.cases import RECORDED_SAMPLES, SPEECH, Case, Maker
from winnow_training.data.mixtures import GROUPS, MELODIC, MIXTURE_RMS, UNSURE, WORDS, Bank, level
from winnow_training.data.synthesis.nameless import SOUNDS
from winnow_training.model.checkpoints import load_average, weights_path
from winnow_training.model.measures import separate, si_sdr
from winnow_training.model.network import TEXT_SCALE
from winnow_training.model.text_encoder import ENCODER, load_encoder

NEARNESS = (10, 12, 13, 14, 15, 16, 18)
SPEECH_MATCH_MIN = 0.9
"""As in mini-lane.ts."""
NAMELESS = Path(__file__).parents[1] / "data" / "nameless.json"


def nearness(model, embeddings: np.ndarray) -> np.ndarray:
    """How far the nearest name's logit is above the mean of all, as understand.ts has it."""
    rows = torch.from_numpy(embeddings) * TEXT_SCALE
    logits = F.linear(rows, model.name_logits.weight, model.name_logits.bias)
    return (logits.amax(1) - logits.mean(1)).detach().numpy()


def report_nearness(model, embed):
    """Known prompts that a threshold keeps, and others that it refuses, plain and in templates."""
    known = [nearness(model, embed(words["held_out"])) for words in WORDS.values()]
    others = json.loads(NAMELESS.read_text())
    for half, split in enumerate(("tune", "held_out")):
        kept = np.concatenate([part[half::2] for part in known])
        framed = [
            TEMPLATES[number % len(TEMPLATES)].format(text)
            for number, text in enumerate(others[split])
        ]
        refused = [nearness(model, embed(texts)) for texts in (others[split], framed)]
        order = np.mean(kept[:, None] > refused[0][None])
        print(f"{split}: a known prompt is nearer than another in {100 * order:.1f} % of pairs")
        for least in NEARNESS:
            shares = [np.mean(part < least) for part in refused]
            print(
                f"  from {least}: {100 * np.mean(kept >= least):.1f} % of {len(kept)} known kept, "
                f"{100 * shares[0]:.1f} % of {len(others[split])} others refused, "
                f"{100 * shares[1]:.1f} % in templates"
            )


def mixtures(cache: Path, embed) -> dict[str, list[Case]]:
    """Each of SOUNDS at 0 dB with another sound, by the kind of that."""
    m = Maker(Bank(cache, "test", "held_out", is_recorded=True), RECORDED_SAMPLES)
    music = GROUPS["music"] | UNSURE["music"]
    company = {
        "speech": SPEECH,
        "an instrument": [name for name in m.bank.names if name in MELODIC],
        "everyday sounds": [
            name for name in m.bank.names if name not in {*music, *SPEECH, "crowd"}
        ],
    }
    embeddings = embed(list(SOUNDS))
    made = {}
    for number, (other, names) in enumerate(company.items()):
        for index, (prompt, synthesise) in enumerate(SOUNDS.items()):
            rng = np.random.default_rng([index, number])
            target = level(high_pass(synthesise(rng, RECORDED_SAMPLES // RATE)))
            mixture = target + m.clip(m.pick(names))
            scale = MIXTURE_RMS / np.sqrt((mixture**2).mean())
            mixture, target = (np.float32(scale * wave) for wave in (mixture, target))
            made.setdefault(other, []).append(
                Case(prompt, prompt, embeddings[index], mixture, target)
            )
    return made


@torch.no_grad()
def gains(model, case: Case, speech: np.ndarray) -> tuple[float, float]:
    """SI-SDRi in dB by the nearest names, and of what speech leaves of the mixture."""
    mixture = torch.from_numpy(case.mixture)[None]
    (nearest, _), (spoken, (_, activity)) = (
        separate(model, mixture, torch.from_numpy(embedding)[None])
        for embedding in (case.embedding, speech)
    )
    is_spoken = torch.sigmoid(activity.max()) >= SPEECH_MATCH_MIN
    rest = mixture - spoken if is_spoken else mixture
    before = si_sdr(case.mixture, case.target)
    return tuple(float(si_sdr(y[0].numpy(), case.target) - before) for y in (nearest, rest))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    parser.add_argument("--encoder", type=Path, default=ENCODER)
    options = parser.parse_args()
    model, _ = load_average(weights_path(options.cache, options.name))
    embed = load_encoder(options.encoder)
    report_nearness(model, embed)
    if not (options.cache / RECORDINGS).is_dir():
        return
    speech = embed(["speech"])[0]
    for other, cases in mixtures(options.cache, embed).items():
        found = np.array([gains(model, case, speech) for case in cases])
        error = found.std(0, ddof=1) / len(found) ** 0.5
        print(
            f"with {other} ({len(found)}): nearest {found[:, 0].mean():.1f} ± {error[0]:.1f}, "
            f"what speech leaves {found[:, 1].mean():.1f} ± {error[1]:.1f} dB"
        )


if __name__ == "__main__":
    main()
