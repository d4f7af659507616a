"""The text encoder, the one that serves: all-MiniLM-L6-v2 (Apache-2.0), frozen."""

from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

FOLDER = Path(__file__).resolve().parents[4] / ".runtime" / "text-encoder"


def load_encoder():
    """Returns a function from n texts to their embeddings, [n, 384] float32."""
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    model = AutoModel.from_pretrained(FOLDER).eval()

    @torch.no_grad()
    def embed(texts: list[str]) -> np.ndarray:
        parts = []
        for start in range(0, len(texts), 64):
            tokens = tokenizer(texts[start : start + 64], padding=True, return_tensors="pt")
            states = model(**tokens).last_hidden_state
            mask = tokens["attention_mask"][..., None]
            mean = (states * mask).sum(1) / mask.sum(1)
            parts.append(torch.nn.functional.normalize(mean, dim=-1))
        return torch.cat(parts).numpy()

    return embed
