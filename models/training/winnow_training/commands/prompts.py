"""Embeds every phrasing of phrasings.json, once: `mini-prompts CACHE`, and learns which name
a phrasing means: the first layer of the network's text code.

The encoder is the one that serves, all-MiniLM-L6-v2 (Apache-2.0), frozen: mean pooling, length 1.
"""

import argparse
import random
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import torch
import torch.nn.functional as F

from winnow_training.data.mixtures import WORDS
from winnow_training.model.network import TEXT, TEXT_SCALE
from winnow_training.model.text_encoder import load_encoder

TEMPLATES = [
    "the sound of {}",
    "sound of {}",
    "{} sound",
    "{} in the background",
    "i want to hear {}",
    "extract {}",
    "isolate the {}",
    "a recording of {}",
    "only the {}",
    "please separate the {}",
    "{} noise",
    "there is {} in this recording",
    "{} far away",
    "loud {}",
    "get me the {} from this clip",
    "a sound effect of {}",
]
TEMPLATES_PER_PHRASING = 2
STEPS, BATCH, LEARNING_RATE = 3000, 512, 4e-3
OFF = 0.02
"""How far embeddings, of length 1, are put off in each dimension: 0.4 in all."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    cache = parser.parse_args().cache
    embed = load_encoder()
    rng, embeddings = random.Random(3), {}
    for name, words in WORDS.items():
        # The plain phrasings come first: mixtures draw half of their prompts from these.
        embeddings[f"train/{name}"] = embed(words["train"] + varied(words["train"], rng))
        embeddings[f"held_out/{name}"] = embed(words["held_out"])
    meant = learn_names([embeddings[f"train/{name}"] for name in WORDS])
    np.savez(
        cache / "text.npz",
        **embeddings,
        **{f"meant/{name}": tensor.numpy() for name, tensor in meant.items()},
    )
    report(embeddings, meant)


def varied(phrases: list[str], rng: random.Random) -> list[str]:
    """Each phrase in some templates, and misspelt."""
    made = []
    for phrase in phrases:
        made += [
            template.format(phrase) for template in rng.sample(TEMPLATES, TEMPLATES_PER_PHRASING)
        ]
        made.append(misspelt(phrase, rng))
    return made


def misspelt(phrase: str, rng: random.Random) -> str:
    """One slip of the fingers: two letters swapped, one left out, doubled or taken for another."""
    at = rng.randrange(max(1, len(phrase) - 1))
    kind = rng.choice(["swap", "drop", "double", "other"])
    if kind == "swap":
        return phrase[:at] + phrase[at + 1 : at + 2] + phrase[at] + phrase[at + 2 :]
    if kind == "drop":
        return phrase[:at] + phrase[at + 1 :]
    if kind == "double":
        return phrase[:at] + phrase[at] + phrase[at:]
    return phrase[:at] + rng.choice(ascii_lowercase) + phrase[at + 1 :]


def learn_names(embeddings: list[np.ndarray]) -> dict[str, torch.Tensor]:
    """Embeddings [phrasings, TEXT] of each name to weight [names, TEXT] and bias [names] of a
    softmax over the names, each as probable as any other (multinomial logistic regression, with
    noise for a regulariser: C. Bishop, "Training with noise is equivalent to Tikhonov
    regularization", 1995)."""
    torch.manual_seed(0)
    rows = torch.from_numpy(np.concatenate(embeddings))
    counts = torch.tensor([len(part) for part in embeddings])
    starts = counts.cumsum(0) - counts
    layer = torch.nn.Linear(TEXT, len(counts))
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.Adam(layer.parameters(), LEARNING_RATE)
    rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, STEPS)
    for _ in range(STEPS):
        names = torch.randint(len(counts), (BATCH,))
        picked = rows[starts[names] + (torch.rand(BATCH) * counts[names]).long()]
        picked = F.normalize(picked + OFF * torch.randn(picked.shape), dim=-1)
        loss = F.cross_entropy(layer(picked * TEXT_SCALE), names)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    return {name: tensor.detach() for name, tensor in layer.named_parameters()}


def report(embeddings, meant):
    """How many held-out phrasings are taken for their own name, and what the others are for."""
    names, right, total = [*WORDS], 0, 0
    for index, name in enumerate(names):
        rows = torch.from_numpy(embeddings[f"held_out/{name}"])
        taken = F.linear(rows * TEXT_SCALE, meant["weight"], meant["bias"]).argmax(1).tolist()
        right, total = right + taken.count(index), total + len(taken)
        for text, other in zip(WORDS[name]["held_out"], taken):
            if other != index:
                print(f"taken for {names[other]}: {text} ({name})")
    print(f"held-out phrasings taken for their own name: {right} of {total}")


if __name__ == "__main__":
    main()
