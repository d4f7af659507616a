"""Embeds every phrasing of phrasings.json, once: `python prompts.py CACHE`.

The encoder is the one that serves, all-MiniLM-L6-v2 (Apache-2.0), frozen: mean pooling, length 1.
"""

import argparse
import random
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from phrasings import load_phrasings

ENCODER = Path(__file__).resolve().parents[3] / ".runtime" / "text-encoder"
TEMPLATES = [
    "the sound of {}", "sound of {}", "{} sound", "{} in the background", "i want to hear {}",
    "extract {}", "isolate the {}", "a recording of {}", "only the {}", "please separate the {}",
    "{} noise", "there is {} in this recording", "{} far away", "loud {}",
    "get me the {} from this clip", "a sound effect of {}",
]
TEMPLATES_PER_PHRASING = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--encoder", type=Path, default=ENCODER)
    options = parser.parse_args()
    embed = load_encoder(options.encoder)
    phrasings, rng, embeddings = load_phrasings(), random.Random(3), {}
    for name, words in (phrasings["classes"] | phrasings["groups"]).items():
        # The plain phrasings come first: mixtures draw half of their prompts from these.
        embeddings[f"train/{name}"] = embed(words["train"] + varied(words["train"], rng))
        embeddings[f"held_out/{name}"] = embed(words["held_out"])
    np.savez(options.cache / "text.npz", **embeddings)
    report_nearest(phrasings, embeddings)


def varied(phrases: list[str], rng: random.Random) -> list[str]:
    """Each phrase in some templates, and misspelt."""
    made = []
    for phrase in phrases:
        made += [template.format(phrase)
                 for template in rng.sample(TEMPLATES, TEMPLATES_PER_PHRASING)]
        made.append(misspelt(phrase, rng))
    return made


def misspelt(phrase: str, rng: random.Random) -> str:
    """One slip of the fingers: two letters swapped, one left out, doubled or taken for another."""
    at = rng.randrange(max(1, len(phrase) - 1))
    kind = rng.choice(["swap", "drop", "double", "other"])
    if kind == "swap":
        return phrase[:at] + phrase[at + 1:at + 2] + phrase[at] + phrase[at + 2:]
    if kind == "drop":
        return phrase[:at] + phrase[at + 1:]
    if kind == "double":
        return phrase[:at] + phrase[at] + phrase[at:]
    return phrase[:at] + rng.choice(ascii_lowercase) + phrase[at + 1:]


def load_encoder(folder: Path):
    """A function of a list of n texts to their embeddings, [n, 384] float32."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()

    @torch.no_grad()
    def embed(texts: list[str]) -> np.ndarray:
        parts = []
        for start in range(0, len(texts), 64):
            tokens = tokenizer(texts[start:start + 64], padding=True, return_tensors="pt")
            states = model(**tokens).last_hidden_state
            mask = tokens["attention_mask"][..., None]
            mean = (states * mask).sum(1) / mask.sum(1)
            parts.append(torch.nn.functional.normalize(mean, dim=-1))
        return torch.cat(parts).numpy()

    return embed


def report_nearest(phrasings, embeddings):
    """How often a held-out phrasing is nearest to its own class: how far the words alone carry."""
    names = list(phrasings["classes"])
    centres = np.stack([embeddings[f"train/{name}"].mean(0) for name in names])
    right = total = 0
    for index, name in enumerate(names):
        nearest = (embeddings[f"held_out/{name}"] @ centres.T).argmax(1)
        right, total = right + (nearest == index).sum(), total + len(nearest)
        for text, other in zip(phrasings["classes"][name]["held_out"], nearest):
            if other != index:
                print(f"nearer to {names[other]}: {text} ({name})")
    print(f"held-out phrasings nearest to their own class: {right} of {total}")


if __name__ == "__main__":
    main()
