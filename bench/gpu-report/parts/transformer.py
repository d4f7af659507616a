"""Times SAM-Audio's transformer in PyTorch: `python transformer.py DIM LAYERS HEADS FRAMES WORDS`.

Each line on standard input, `BATCH float32|bfloat16`, is answered with the milliseconds of one
evaluation.
"""

import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FEATURES = 256
TIME_DIM = 256
THETA = 20_000


def linear(inside, outside):
    return nn.Linear(inside, outside, bias=False)


def sinusoids(times, dim):
    """[batch] to [batch, dim]."""
    angles = times[:, None] * 10_000 ** (-torch.arange(dim // 2, device=times.device) / (dim // 2))
    return torch.cat([angles.cos(), angles.sin()], -1)


class FeedForward(nn.Module):
    def __init__(self, inside, hidden, outside):
        super().__init__()
        self.w1, self.w3 = linear(inside, hidden), linear(inside, hidden)
        self.w2 = linear(hidden, outside)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (linear(dim, dim) for _ in range(4))
        self.q_norm, self.k_norm = nn.RMSNorm(dim // heads, 1e-5), nn.RMSNorm(dim // heads, 1e-5)

    def forward(self, x, memory, rotary=None):
        q, k, v = (w(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for w, y in
                   [(self.wq, x), (self.wk, memory), (self.wv, memory)])
        q, k = self.q_norm(q), self.k_norm(k)  # [batch, heads, length, width]
        if rotary:
            q, k = rotate(q, *rotary), rotate(k, *rotary)
        return self.wo(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def rotate(x, cos, sin):
    """x [..., frames, width], its pairs neighbours; cos and sin [frames, width / 2]."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.table = nn.Parameter(torch.randn(6, dim) / dim ** 0.5)
        self.norm1, self.norm2 = nn.RMSNorm(dim, 1e-5), nn.RMSNorm(dim, 1e-5)
        self.attention, self.cross = Attention(dim, heads), Attention(dim, heads)
        self.feed_forward = FeedForward(dim, hidden, dim)

    def forward(self, x, memory, six, rotary):
        shift1, scale1, gate1, shift2, scale2, gate2 = (self.table + six).chunk(6, 1)
        normed = self.norm1(x) * (1 + scale1) + shift1
        x = x + gate1 * self.attention(normed, normed, rotary)
        x = x + self.cross(x, memory)
        return x + gate2 * self.feed_forward(self.norm2(x) * (1 + scale2) + shift2)


class Transformer(nn.Module):
    def __init__(self, dim, layers, heads, frames):
        super().__init__()
        hidden = 64 * -(-int(8 * dim / 3) // 64)
        self.dim = dim
        self.patcher = nn.Sequential(*(part for _ in range(2) for part in (
            nn.GroupNorm(1, dim), nn.SiLU(), nn.Conv1d(dim, dim, 3, padding=1))))
        self.time = FeedForward(TIME_DIM, dim, dim)
        self.to_blocks = nn.Linear(dim, 6 * dim)
        self.embed_memory = FeedForward(dim, dim, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, hidden) for _ in range(layers))
        self.norm = nn.RMSNorm(dim, 1e-5)
        self.table = nn.Parameter(torch.randn(2, dim) / dim ** 0.5)
        self.output = linear(dim, FEATURES)
        width = dim // heads
        angles = torch.outer(torch.arange(frames), THETA ** (-torch.arange(0, width, 2) / width))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def codes(self, times):
        """The part that depends only on the time, which a flow computes once for all its times."""
        t = self.time(sinusoids(times, TIME_DIM))
        return t[:, None], self.to_blocks(F.silu(t)).unflatten(-1, (6, self.dim))

    def forward(self, x, memory, t, six):
        """[batch, frames, dim] and [batch, words, dim] to [batch, frames, FEATURES]."""
        turned = x.transpose(1, 2)
        x = (self.patcher(turned) + turned).transpose(1, 2)
        memory = self.embed_memory(memory)
        for block in self.blocks:
            x = block(x, memory, six, (self.cos, self.sin))
        shift, scale = (self.table + t).chunk(2, 1)
        return self.output(self.norm(x) * (1 + scale) + shift)


def wait():
    """Waits until the GPU has finished, because calls return before it has."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


@torch.inference_mode()
def main():
    dim, layers, heads, frames, words = map(int, sys.argv[1:])
    plain = Transformer(dim, layers, heads, frames).to(DEVICE).eval()
    half = Transformer(dim, layers, heads, frames).bfloat16().to(DEVICE).eval()
    for line in sys.stdin:
        batch, precision = line.split()
        model, dtype = (half, torch.bfloat16) if precision == "bfloat16" else (plain, torch.float32)
        shapes = [(int(batch), length, dim) for length in (frames, words)]
        x, memory = (torch.randn(shape, device=DEVICE).to(dtype) for shape in shapes)
        times = torch.full((int(batch),), 0.3, device=DEVICE)
        codes = [code.to(dtype) for code in plain.codes(times)]
        wait()
        start = time.perf_counter()
        model(x, memory, *codes)
        wait()
        print((time.perf_counter() - start) * 1000, flush=True)


if __name__ == "__main__":
    main()
