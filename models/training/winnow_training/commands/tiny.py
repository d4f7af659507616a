"""Writes what the port of the network is tested against: `mini-tiny GOLDEN_FOLDER`.

A network of few channels, with weights by a seed, and its results in every part. They change with
the network alone, not with its training.
"""

import argparse
from pathlib import Path

import torch

from winnow_training.model.export import golden, save, write_weights
from winnow_training.model.network import PATCH, TEXT, WINDOW, Separator, features

SIZES = dict(C=8, D=16, heads=2, shared=1, conditioned=2, code=8, head=4, exchange=2)
NAMES = ["dog", "rain", "piano"]
STREAM_SCALE = 0.01
"""Size of what is added to a stream: so small that the norms' epsilon shows in the results."""
TO_STREAMS = (
    "band_split.",
    "initial_frame",
    "span_projection.",
    "exchange_to_frame.",
    "exchange_to_band.",
    "frame_layer.time_convolution.convolution.bias",
    "frame_layer.output.",
    "feed_forward.output.",
    "name_codes.",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("golden", type=Path)
    folder = parser.parse_args().golden / "tiny"
    folder.mkdir(exist_ok=True)
    generator = torch.Generator().manual_seed(1)
    model = tiny_network(generator)
    stored = {"config": model.config, "step": 0, "seconds": 0}
    write_weights(model, stored, folder)
    embedding = torch.randn(1, TEXT, generator=generator)
    results = golden(model, embedding / embedding.norm())
    results["silence"] = features(torch.zeros(1, PATCH, WINDOW // 2 + 1))  # epsilon alone
    save(results, folder / "golden.safetensors")


@torch.no_grad()
def tiny_network(generator: torch.Generator) -> Separator:
    """No weight is nothing or one, as those are that training begins with: each is seen in the
    results."""
    model = Separator(**SIZES, names=NAMES).eval()
    for name, weight in [*model.named_parameters(), ("", model.closing_tolerance)]:
        if ".weights." in name:  # of a BandLinear, [bands, in, out]
            fan_in = weight.shape[-2]
        else:
            fan_in = weight[0].numel() if weight.dim() > 1 else 1
        values = torch.randn(weight.shape, generator=generator) / fan_in**0.5
        if name.endswith("gain") or name == "closing_strength":
            values = 1 + 0.3 * values
        elif any(part in name for part in TO_STREAMS):
            values *= STREAM_SCALE
        weight.copy_(values)
    return model


if __name__ == "__main__":
    main()
