"""The same transformer as bench/dit-forward.ts in PyTorch, for comparison: random weights, one JSON line per case.

GOMP_SPINCOUNT=20000 OMP_WAIT_POLICY=passive python bench/dit_forward.py --batch 1,2,4,8
"""
import argparse
import json
import time

import torch
import torch.nn.functional as F
from torch import nn

FEATURES = 256
TIME_DIM = 256


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.q_gain, self.k_gain = (nn.Parameter(torch.ones(dim // heads)) for _ in range(2))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory, turn):
        q, k, v = self.split(self.wq(x)), self.split(self.wk(memory)), self.split(self.wv(memory))
        q, k = (F.rms_norm(y, y.shape[-1:], gain, 1e-5) for y, gain in ((q, self.q_gain), (k, self.k_gain)))
        if turn is not None:
            q, k = rotate(q, turn), rotate(k, turn)
        return self.wo(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def rotate(x, turn):
    cos, sin = turn
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Gated(nn.Module):
    def __init__(self, dim, hidden, out):
        super().__init__()
        self.w1, self.w3 = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, out, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.attention, self.cross = Attention(dim, heads), Attention(dim, heads)
        self.feed_forward = Gated(dim, hidden, dim)
        self.table = nn.Parameter(torch.randn(6, dim))
        self.gain1, self.gain2 = (nn.Parameter(torch.ones(dim)) for _ in range(2))

    def forward(self, x, time_code, memory, turn):
        shift1, scale1, gate1, shift2, scale2, gate2 = (self.table + time_code).chunk(6, 1)
        heard = F.rms_norm(x, x.shape[-1:], self.gain1, 1e-5) * (1 + scale1) + shift1
        x = x + gate1 * self.attention(heard, heard, turn)
        x = x + self.cross(x, memory, None)
        heard = F.rms_norm(x, x.shape[-1:], self.gain2, 1e-5) * (1 + scale2) + shift2
        return x + gate2 * self.feed_forward(heard)


class Transformer(nn.Module):
    def __init__(self, dim, heads, layers, hidden):
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(1, dim) for _ in range(2))
        self.convolutions = nn.ModuleList(nn.Conv1d(dim, dim, 3, padding=1) for _ in range(2))
        self.blocks = nn.ModuleList(Block(dim, heads, hidden) for _ in range(layers))
        self.time, self.memory = Gated(TIME_DIM, dim, dim), Gated(dim, dim, dim)
        self.time_block = nn.Linear(dim, 6 * dim)
        self.gain, self.table = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.randn(2, dim))
        self.output = nn.Linear(dim, FEATURES, bias=False)

    def forward(self, x, waves, memory, turn):
        y = x.transpose(1, 2)
        for norm, convolution in zip(self.norms, self.convolutions):
            y = convolution(F.silu(norm(y)))
        x = x + y.transpose(1, 2)
        time_code = self.time(waves)
        memory = self.memory(memory)
        blocks = self.time_block(F.silu(time_code)).unflatten(-1, (6, -1))
        for block in self.blocks:
            x = block(x, blocks, memory, turn)
        shift, scale = (self.table + time_code.unsqueeze(1)).chunk(2, 1)
        return self.output(F.rms_norm(x, x.shape[-1:], self.gain, 1e-5) * (1 + scale) + shift)


def main():
    parser = argparse.ArgumentParser()
    for name, usual in (("dim", 512), ("layers", 8), ("heads", 8), ("frames", 250), ("words", 12), ("repetitions", 8)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--batch", default="1,2,4,8")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    asked = parser.parse_args()
    dtype = getattr(torch, asked.precision)
    hidden = 64 * -(-int(8 * asked.dim / 3) // 64)
    network = Transformer(asked.dim, asked.heads, asked.layers, hidden).to(dtype).eval()
    half = asked.dim // asked.heads // 2
    angles = torch.outer(torch.arange(asked.frames), 20_000 ** -(torch.arange(half) / half))
    turn = (angles.cos().to(dtype), angles.sin().to(dtype))
    taken = {int(size): [] for size in asked.batch.split(",")}
    with torch.inference_mode():
        for repetition in range(-2, asked.repetitions):
            for size, millis in taken.items():
                x = torch.randn(size, asked.frames, asked.dim, dtype=dtype)
                memory = torch.randn(size, asked.words, asked.dim, dtype=dtype)
                waves = torch.randn(size, TIME_DIM, dtype=dtype)
                started = time.perf_counter()
                network(x, waves, memory, turn)
                if repetition >= 0:  # the first rounds warm up
                    millis.append(1000 * (time.perf_counter() - started))
    for size, millis in taken.items():
        print(json.dumps({
            "question": "milliseconds of one evaluation of the transformer", "backend": f"torch {torch.__version__}",
            "threads": torch.get_num_threads(), "precision": asked.precision, "batch": size, "n": len(millis),
            "least": round(min(millis), 1), "median": round(sorted(millis)[len(millis) // 2], 1),
        }))


main()
