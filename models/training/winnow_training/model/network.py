"""The network: what a mixture's spectrum and a prompt's embedding say about the target's mask.

Two streams go through the blocks side by side: x [batch, tokens, bands, C] is local in frequency,
z [batch, tokens, D] sees the whole spectrum and, by attention, all of time. A token is two frames.
Names of members are names in the weights file, which the service reads.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

WINDOW, HOP, PATCH = 2048, 512, 2
BANDS = [8] * 16 + [16] * 8 + [32] * 8 + [128] * 4
"""Bins of each band: 1024 in all; the highest bin takes the mask of the one below."""
K = len(BANDS)
MAJOR_SHARE = 0.2
"""Share of a mixture's energy above which the sound is more probably there."""
SOFTENED_UNTIL, WHOLE_FROM = 0.15, 0.25
"""Bounds of the match."""
SOFTENED_GAIN = 10 ** (-28 / 20)
"""As presence.ts has it too; EXPERIMENTS.md shows what other choices would do."""
TEXT = 384
TEXT_SCALE = math.sqrt(TEXT)


def stft(samples, window):
    """[batch, N] to complex [batch, frames, 1025]."""
    spectra = torch.stft(samples, WINDOW, HOP, WINDOW, window, center=True, return_complex=True)
    return spectra.transpose(1, 2)


def istft(spectra, window, samples):
    """[batch, frames, 1025] to [batch, samples]."""
    spectra = spectra.transpose(1, 2)
    return torch.istft(spectra, WINDOW, HOP, WINDOW, window, center=True, length=samples)


def features(power):
    """|X|² [batch, frames, 1025], frames even, to |X|^½ [batch, tokens, PATCH, 1024]."""
    batch, frames, _ = power.shape
    roots = (power[..., :1024] + 1e-8).sqrt().sqrt()
    return roots.reshape(batch, frames // PATCH, PATCH, 1024)


def match_of(activity, target, mixture):
    """Activity logits [batch, tokens] and what the mask lets through of a mixture, [batch, …] both,
    to how probable it is that the sound is there, [batch]. A target that is much of the mixture is
    seldom a remnant of another sound: it raises the odds at the best token, up to five times.
    Little of it says nothing, as sounds may be soft."""
    share = target.pow(2).flatten(1).sum(1) / (mixture.pow(2).flatten(1).sum(1) + 1e-9)
    return torch.sigmoid(activity.amax(1) + torch.log((share / MAJOR_SHARE).clamp(min=1)))


def presence(match):
    """[batch] to the gain of the target, [batch]: turned down where the sound is probably nowhere,
    and never silenced, for it may be there all the same."""
    return presence_gain(match, SOFTENED_UNTIL, WHOLE_FROM, SOFTENED_GAIN)


def presence_gain(match, softened_until, whole_from, softened_gain):
    sureness = ((match - softened_until) / (whole_from - softened_until)).clip(0, 1)
    return softened_gain + (1 - softened_gain) * sureness


class ClipByExample(torch.autograd.Function):
    """Activations [batch, …] unchanged; on the way back no example's gradient is longer than the
    batch's median.

    Gradients grow on their way back, and those of 3 examples in 100 to more than 9 times the
    median: one alone would say where the step goes. Clipping what comes back through
    activations is from A. Graves, "Generating Sequences With Recurrent Neural Networks", 2013.
    """

    @staticmethod
    def forward(context, x):
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        lengths = gradient.float().flatten(1).norm(dim=1)
        share = (lengths.median() / (lengths + 1e-20)).clamp(max=1)
        return gradient * share.view(-1, *[1] * (gradient.dim() - 1)).to(gradient.dtype)


class RMS(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.gain, 1e-5)


class BandLinear(nn.Module):
    """A linear map for each band; neighbours of one width are one batched product."""

    def __init__(self, in_dim, out_dim, widths):
        super().__init__()
        self.runs, start = [], 0
        while start < len(widths):
            end = start
            while end < len(widths) and widths[end] == widths[start]:
                end += 1
            self.runs.append((start, end, widths[start]))
            start = end
        self.weights = nn.ParameterList(
            [
                nn.Parameter(torch.randn(end - start, in_dim(w), out_dim(w)) / math.sqrt(in_dim(w)))
                for start, end, w in self.runs
            ]
        )
        self.biases = nn.ParameterList(
            [nn.Parameter(torch.zeros(end - start, 1, out_dim(w))) for start, end, w in self.runs]
        )


class BandSplit(BandLinear):
    """[batch, tokens, PATCH, 1024] to [batch, tokens, K, C]."""

    def __init__(self, dim):
        super().__init__(lambda w: w * PATCH, lambda w: dim, BANDS)
        self.dim = dim

    def forward(self, x):
        batch, tokens = x.shape[:2]
        outputs, at = [], 0
        for (start, end, w), weight, bias in zip(self.runs, self.weights, self.biases):
            count = end - start
            y = x[..., at : at + count * w].reshape(batch * tokens, PATCH, count, w)
            y = y.permute(2, 0, 1, 3).reshape(count, batch * tokens, PATCH * w)
            outputs.append(torch.baddbmm(bias, y, weight))
            at += count * w
        return torch.cat(outputs).view(K, batch, tokens, self.dim).permute(1, 2, 0, 3)


class MaskHead(nn.Module):
    """[batch, tokens, K, C] to mask logits [batch, frames, 1025]."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.hidden = BandLinear(lambda w: dim, lambda w: hidden, [1] * K)
        self.output = BandLinear(lambda w: hidden, lambda w: w * PATCH, BANDS)

    def forward(self, x):
        batch, tokens, _, dim = x.shape
        y = x.permute(2, 0, 1, 3).reshape(K, batch * tokens, dim)
        y = F.silu(torch.baddbmm(self.hidden.biases[0], y, self.hidden.weights[0]))
        outputs = []
        for (start, end, w), weight, bias in zip(
            self.output.runs, self.output.weights, self.output.biases
        ):
            z = torch.baddbmm(bias, y[start:end], weight).view(end - start, batch, tokens, PATCH, w)
            outputs.append(z.permute(1, 2, 3, 0, 4).reshape(batch, tokens * PATCH, -1))
        logits = torch.cat(outputs, -1)
        return torch.cat([logits, logits[..., -1:]], -1)


class Modulation(nn.Module):
    """Scales and shifts from the text code; nothing at the start of training (adaLN-zero, DiT)."""

    def __init__(self, code_dim, dim, count):
        super().__init__()
        self.count = count
        self.projection = nn.Linear(code_dim, count * dim)
        nn.init.zeros_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)

    def forward(self, code, dims):
        parts = self.projection(code).chunk(self.count, -1)
        return [part.view(len(part), *[1] * (dims - 2), -1) for part in parts]


class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.input = nn.Linear(dim, 2 * hidden)
        self.output = nn.Linear(hidden, dim)

    def forward(self, x):
        gate, value = self.input(x).chunk(2, -1)
        return self.output(F.silu(gate) * value)


class TimeConv(nn.Module):
    """Depthwise convolution along time, of [batch, tokens, dim] or [batch, tokens, K, dim]."""

    def __init__(self, dim, kernel):
        super().__init__()
        self.convolution = nn.Conv2d(dim, dim, (kernel, 1), padding=(kernel // 2, 0), groups=dim)

    def forward(self, x):
        if x.is_cuda:
            return self.add_taps(x)
        y = x if x.dim() == 4 else x.unsqueeze(2)
        y = self.convolution(y.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return y if x.dim() == 4 else y.squeeze(2)

    def add_taps(self, x):
        """The same as shifted sums, which compile into what is around them: cuDNN is slow here."""
        weight = self.convolution.weight.flatten(1).t().to(x.dtype)  # [kernel, dim]
        reach, tokens = len(weight) // 2, x.shape[1]
        padded = F.pad(x, (*[0, 0] * (x.dim() - 2), reach, reach))
        taps = (padded[:, at : at + tokens] * tap for at, tap in enumerate(weight))
        return sum(taps, self.convolution.bias.to(x.dtype))


def attention(q, k, v):
    """[..., tokens, dim] each. Written out, as the fused kernel is slow on its way back on a CPU;
    in float32, as scores in bfloat16 leave of the gradient little but noise (a cosine of 0.2)."""
    with torch.autocast(q.device.type, enabled=False):
        q, k, v = q.float(), k.float(), v.float()
        return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v


class FrameLayer(nn.Module):
    """A transformer layer over time, without position codes: the convolution encodes order."""

    def __init__(self, dim, heads, code_dim):
        super().__init__()
        self.heads = heads
        self.time_convolution = TimeConv(dim, 7)
        self.attention_norm, self.feed_forward_norm = RMS(dim), RMS(dim)
        self.qkv, self.output = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.feed_forward = SwiGLU(dim, 2 * dim)
        self.modulation = Modulation(code_dim, dim, 4) if code_dim else None

    def forward(self, z, code):
        scale1, shift1, scale2, shift2 = self.modulation(code, 3) if self.modulation else (0.0,) * 4
        z = z + self.time_convolution(z)
        z = z + self.attend(self.attention_norm(z) * (1 + scale1) + shift1)
        return z + self.feed_forward(self.feed_forward_norm(z) * (1 + scale2) + shift2)

    def attend(self, z):
        batch, tokens, dim = z.shape
        q, k, v = self.qkv(z).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = attention(q, k, v)
        return self.output(mixed.transpose(1, 2).reshape(batch, tokens, dim))


class BandLayer(nn.Module):
    """A few tokens' worth of time and a feed-forward step, the same in every band."""

    def __init__(self, dim, code_dim):
        super().__init__()
        self.band_norm = RMS(dim)
        self.time_convolution = TimeConv(dim, 5)
        self.feed_forward = SwiGLU(dim, 2 * dim)
        self.modulation = Modulation(code_dim, dim, 2) if code_dim else None

    def forward(self, x, code):
        y = self.band_norm(x)
        y = y + self.time_convolution(y)
        if self.modulation:
            scale, shift = self.modulation(code, 4)
            y = y * (1 + scale) + shift
        return x + self.feed_forward(y)


class Block(nn.Module):
    """The streams exchange a narrow projection of each other, then pass a layer of their own."""

    def __init__(self, dim, frame_dim, heads, code_dim, exchange):
        super().__init__()
        self.exchange = exchange
        self.band_norm = RMS(dim)
        self.band_to_exchange = nn.Linear(dim, exchange)
        self.exchange_to_frame = nn.Linear(K * exchange, frame_dim)
        self.frame_layer = FrameLayer(frame_dim, heads, code_dim)
        self.frame_norm = RMS(frame_dim)
        self.frame_to_exchange = nn.Linear(frame_dim, K * exchange)
        self.exchange_to_band = nn.Linear(exchange, dim)
        self.band_layer = BandLayer(dim, code_dim)

    def forward(self, x, z, code):
        batch, tokens = x.shape[:2]
        z = ClipByExample.apply(z)
        summary = self.band_to_exchange(self.band_norm(x))
        z = z + self.exchange_to_frame(summary.reshape(batch, tokens, K * self.exchange))
        z = self.frame_layer(z, code)
        update = self.frame_to_exchange(self.frame_norm(z)).view(batch, tokens, K, self.exchange)
        x = x + self.exchange_to_band(update)
        return self.band_layer(x, code), z


class Separator(nn.Module):
    """Shared blocks encode the mixture once for all prompts; conditioned blocks decode a mask for
    each."""

    def __init__(self, C, D, heads, shared, conditioned, names, code=128, head=64, exchange=16):
        """`names` are the classes and groups that a prompt may mean."""
        super().__init__()
        self.config = dict(
            C=C,
            D=D,
            heads=heads,
            shared=shared,
            conditioned=conditioned,
            names=names,
            code=code,
            head=head,
            exchange=exchange,
        )
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)
        self.band_split = BandSplit(C)
        self.name_logits = nn.Linear(TEXT, len(names)).requires_grad_(
            False
        )  # see commands/prompts.py
        self.name_codes = nn.Linear(len(names), code, bias=False)
        self.initial_frame = nn.Parameter(torch.zeros(D))
        self.span_projection = nn.Linear(2, D, bias=False)
        self.shared_blocks = nn.ModuleList([Block(C, D, heads, 0, exchange) for _ in range(shared)])
        self.conditioned_blocks = nn.ModuleList(
            [Block(C, D, heads, code, exchange) for _ in range(conditioned)]
        )
        self.mask_norm, self.mask_head = RMS(C), MaskHead(C, head)
        self.activity_norm, self.activity_projection = RMS(D), nn.Linear(D, 1)
        self.closing_strength = nn.Parameter(
            torch.ones(1), requires_grad=False
        )  # see commands/gate.py
        self.register_buffer("closing_tolerance", torch.zeros(1))

    def code(self, embedding):
        """[n, TEXT] to [n, code], of RMS 1: the mean of the codes of the names that the prompt may
        mean, by how probable each is. Left to itself a code learnt the phrasings, not the names:
        of those held out 8 in 100 were nearest to another name, and with this 2 are."""
        code = self.name_codes(torch.softmax(self.name_logits(embedding * TEXT_SCALE), -1))
        return code * torch.rsqrt(code.float().pow(2).mean(-1, keepdim=True) + 1e-5)

    def compile_blocks(self):
        """Blocks of a kind share compiled code, so they compile in a fraction of the time that the
        whole network takes."""
        for block in [*self.shared_blocks, *self.conditioned_blocks]:
            block.compile(dynamic=False)
        self.mask_head.compile(dynamic=False)

    def forward(self, x, embedding, spans, queries: int):
        """x: features [batch, tokens, PATCH, 1024]; embedding [batch·queries, TEXT];
        spans [batch·queries, tokens, 2], sounds here and doesn't sound here.

        To mask logits [batch·queries, frames, 1025] and activity logits [batch·queries, tokens].
        While the target doesn't sound the activity closes the whole mask.
        """
        logits, activity = self.open(x, embedding, spans, queries)
        # The activity learns by its own loss alone: the mask's would shut everything.
        closing = self.closing_strength * F.softplus(-activity.detach() - self.closing_tolerance)
        return logits - closing.repeat_interleave(PATCH, 1).unsqueeze(-1), activity

    def open(self, x, embedding, spans, queries: int):
        """As `forward`, of a mask that nothing closes yet."""
        x = self.band_split(x).contiguous()  # so that blocks compile once for all
        z = self.initial_frame.expand(*x.shape[:2], -1).contiguous()
        for block in self.shared_blocks:
            x, z = block(x, z, None)
        x = ClipByExample.apply(x)
        x, z = (y.repeat_interleave(queries, 0) if queries > 1 else y for y in (x, z))
        z = z + self.span_projection(spans)
        code = ClipByExample.apply(self.code(embedding))
        for block in self.conditioned_blocks:
            x, z = block(x, z, code)
        activity = self.activity_projection(self.activity_norm(z)).squeeze(-1)
        return self.mask_head(self.mask_norm(x)), activity
