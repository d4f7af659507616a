"""Mel-Band and BS-RoFormer in PyTorch, from their weights by name: what `bench/open-models.ts`
compares with.
"""

import torch
from torch.nn import functional as F


def load(weights, bands, heads, hop):
    """Weights by their names in the checkpoint; bands (first bin, one past the last); returns
    mixture [B, C, N] to [B, stems, C, N].
    """
    net = Network(weights, bands, heads, hop)
    return net.separate


class Network:
    def __init__(self, weights, bands, heads, hop):
        self.w = weights
        self.bands = bands
        self.heads = heads
        self.hop = hop
        bins = bands[-1][1]
        self.window = 2 * (bins - 1)
        counts = torch.zeros(bins)
        for start, end in bands:
            counts[start:end] += 1
        self.counts = counts[:, None]

    def separate(self, mixture):
        hann = torch.hann_window(self.window)
        batch, channels, samples = mixture.shape
        z = torch.stft(mixture.flatten(0, 1), self.window, self.hop, window=hann,
                       return_complex=True)
        z = z.unflatten(0, (batch, channels)).permute(0, 3, 2, 1)  # [B, T, bins, C]
        numbers = torch.view_as_real(z).flatten(-2)  # [B, T, bins, C · 2]
        x = self.transform(self.split(numbers))
        stems = []
        for stem in range(self.count("mask_estimators.{}.to_freqs.0.0.0.weight")):
            mask = torch.zeros_like(numbers)
            for i, (start, end) in enumerate(self.bands):
                made = self.mask(f"mask_estimators.{stem}.to_freqs.{i}.0", x[:, :, i])
                mask[:, :, start:end] += made.unflatten(-1, (end - start, -1)).float()
            mask = torch.view_as_complex((mask / self.counts).unflatten(-1, (channels, 2)))
            mask[:, :, 0] = 0
            found = (z * mask).permute(0, 3, 2, 1).flatten(0, 1)
            wave = torch.istft(found, self.window, self.hop, window=hann, length=samples)
            stems.append(wave.unflatten(0, (batch, channels)))
        return torch.stack(stems, 1)

    def split(self, numbers):
        features = []
        for i, (start, end) in enumerate(self.bands):
            name = f"band_split.to_features.{i}"
            h = self.norm(f"{name}.0", numbers[:, :, start:end].flatten(-2))
            features.append(self.linear(f"{name}.1", h))
        return torch.stack(features, 2)

    def transform(self, x):
        """x [B, T, bands, dim], shape as it is."""
        batch = len(x)
        for i in range(self.count("layers.{}.0.layers.0.0.to_qkv.weight")):
            rows = self.transformer(f"layers.{i}.0", x.transpose(1, 2).flatten(0, 1))
            x = rows.unflatten(0, (batch, -1)).transpose(1, 2)
            rows = self.transformer(f"layers.{i}.1", x.flatten(0, 1))
            x = rows.unflatten(0, (batch, -1))
        return self.norm("final_norm", x) if "final_norm.gamma" in self.w else x

    def transformer(self, name, x):
        for i in range(self.count(f"{name}.layers.{{}}.0.to_qkv.weight")):
            x = x + self.attention(f"{name}.layers.{i}.0", x)
            net = f"{name}.layers.{i}.1.net"
            h = F.gelu(self.linear(f"{net}.1", self.norm(f"{net}.0", x)))
            x = x + self.linear(f"{net}.4", h)
        return self.norm(f"{name}.norm", x) if f"{name}.norm.gamma" in self.w else x

    def attention(self, name, x):
        h = self.norm(f"{name}.norm", x)
        qkv = self.linear(f"{name}.to_qkv", h).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # [rows, heads, tokens, head]
        frequencies = self.w[f"{name}.rotary_embed.freqs"]
        angles = torch.arange(x.shape[1])[:, None] * frequencies
        q, k = (turn(part, angles) for part in (q, k))
        found = F.scaled_dot_product_attention(q, k, v)
        gate = self.linear(f"{name}.to_gates", h).sigmoid().transpose(1, 2)[..., None]
        return self.linear(f"{name}.to_out.0", (found * gate).transpose(1, 2).flatten(-2))

    def mask(self, name, x):
        layers = self.count(f"{name}.{{}}.weight", step=2)
        for i in range(layers):
            x = self.linear(f"{name}.{2 * i}", x if i == 0 else x.tanh())
        return F.glu(x, -1)

    def norm(self, name, x):
        gamma = self.w[f"{name}.gamma"]
        return F.normalize(x, dim=-1) * len(gamma) ** 0.5 * gamma

    def linear(self, name, x):
        return F.linear(x, self.w[f"{name}.weight"], self.w.get(f"{name}.bias"))

    def count(self, pattern, step=1):
        i = 0
        while pattern.format(i * step) in self.w:
            i += 1
        return i


def turn(x, angles):
    """Rotary positions, in pairs of neighbours: x [..., tokens, head]."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([a * angles.cos() - b * angles.sin(),
                        a * angles.sin() + b * angles.cos()], -1).flatten(-2).to(x.dtype)
