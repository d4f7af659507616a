"""HTDemucs in PyTorch, from its weights by name: what `bench/open-models.ts` compares with."""

import math

import torch
from torch.nn import functional as F

STRIDE = 4
EPSILON = 1e-5


def load(weights, kwargs):
    """Weights by their names in the checkpoint; returns mixture [B, C, N] to [B, stems, C, N]."""
    net = Network(weights, kwargs)
    return net.separate


def spectrum(x, window):
    """[B, C, N] to complex [B, C, bins, frames], without the last bin."""
    hop, samples = window // 4, x.shape[-1]
    frames = math.ceil(samples / hop)
    edge = hop // 2 * 3
    x = F.pad(x, (edge, edge + frames * hop - samples), "reflect")
    z = torch.stft(x.flatten(0, 1), window, hop, window=torch.hann_window(window),
                   normalized=True, return_complex=True)
    return z[:, :-1, 2:2 + frames].unflatten(0, (len(x), -1))


def waves(z, samples):
    """The inverse: [..., bins, frames] to [..., samples]."""
    window = 2 * z.shape[-2]
    hop = window // 4
    edge = hop // 2 * 3
    z = F.pad(z, (2, 2, 0, 1))
    length = hop * math.ceil(samples / hop) + 2 * edge
    x = torch.istft(z.flatten(0, -3), window, hop, window=torch.hann_window(window),
                    normalized=True, length=length)
    return x[:, edge:edge + samples].unflatten(0, z.shape[:-2])


def sinusoids_in_time(length, dim, period):
    half = dim // 2
    phase = torch.arange(length)[:, None] / period ** (torch.arange(half) / (half - 1))
    return torch.cat([phase.cos(), phase.sin()], 1)


def sinusoids_in_spectrum(frames, bins, dim, period):
    """[frames * bins, dim]."""
    half = dim // 2
    rates = torch.exp(-torch.arange(0, half, 2) * math.log(period) / half)

    def code(length):
        phase = torch.arange(length)[:, None] * rates
        return torch.stack([phase.sin(), phase.cos()], -1).flatten(1)

    rows = code(frames)[:, None].expand(-1, bins, -1), code(bins)[None].expand(frames, -1, -1)
    return torch.cat(rows, -1).flatten(0, 1)


class Network:
    def __init__(self, weights, kwargs):
        self.w = {name: value.float() for name, value in weights.items()}
        self.k = kwargs
        whole, part = map(int, (str(kwargs["segment"]) + "/1").split("/")[:2])
        self.samples = whole * kwargs["samplerate"] // part
        self.codes = None

    def of(self, name, function, x, **options):
        return function(x, self.w[f"{name}.weight"], self.w[f"{name}.bias"], **options)

    def separate(self, mix):
        stems, samples = len(self.k["sources"]), mix.shape[-1]
        z = spectrum(mix, self.k["nfft"])
        x = torch.view_as_real(z).permute(0, 1, 4, 2, 3).flatten(1, 2)  # [B, C * 2, bins, frames]
        x, mean, std = normalized(x)
        xt, mean_t, std_t = normalized(mix)
        x, xt = self.forward(x, xt)
        x = (x * std + mean).float().unflatten(1, (stems, -1, 2)).movedim(3, -1).contiguous()
        xt = (xt * std_t + mean_t).unflatten(1, (stems, -1))
        return waves(torch.view_as_complex(x), samples) + xt

    def forward(self, x, xt):
        depth = self.k["depth"]
        skips, skips_t, lengths = [], [], []
        for i in range(depth):
            lengths.append(xt.shape[-1])
            x, xt = self.encode(f"encoder.{i}", x), self.encode(f"tencoder.{i}", xt)
            if i == 0:
                table = self.w["freq_emb.embedding.weight"].T[None, :, :, None]
                x = x + self.k["freq_emb"] * self.k["emb_scale"] * table
            skips.append(x)
            skips_t.append(xt)
        x, xt = self.cross(x, xt)
        for j in range(depth):
            x = self.decode(f"decoder.{j}", x, skips.pop())[:, :, 2:-2]
            xt = self.decode(f"tdecoder.{j}", xt, skips_t.pop())
            xt = xt[..., 2:2 + lengths.pop()]
            if j < depth - 1:
                x, xt = F.gelu(x), F.gelu(xt)
        return x, xt

    def encode(self, name, x):
        if x.dim() == 4:
            y = self.of(f"{name}.conv", F.conv2d, x, stride=(STRIDE, 1), padding=(2, 0))
        else:
            x = F.pad(x, (0, -x.shape[-1] % STRIDE))
            y = self.of(f"{name}.conv", F.conv1d, x, stride=STRIDE, padding=2)
        y = self.residual(f"{name}.dconv", F.gelu(y))
        return F.glu(self.of(f"{name}.rewrite", F.conv2d if x.dim() == 4 else F.conv1d, y), 1)

    def decode(self, name, x, skip):
        is_image = x.dim() == 4
        y = self.of(f"{name}.rewrite", F.conv2d if is_image else F.conv1d, x + skip, padding=1)
        y = self.residual(f"{name}.dconv", F.glu(y, 1))
        if is_image:
            return self.of(f"{name}.conv_tr", F.conv_transpose2d, y, stride=(STRIDE, 1))
        return self.of(f"{name}.conv_tr", F.conv_transpose1d, y, stride=STRIDE)

    def residual(self, name, x):
        y = x.transpose(1, 2).flatten(0, 1) if x.dim() == 4 else x  # rows of bins
        for d in range(self.k["dconv_depth"]):
            p = f"{name}.layers.{d}"
            h = self.of(f"{p}.0", F.conv1d, y, dilation=2 ** d, padding=2 ** d)
            h = self.of(f"{p}.3", F.conv1d, F.gelu(self.group_norm(f"{p}.1", h)))
            h = F.glu(self.group_norm(f"{p}.4", h), 1)
            y = y + self.w[f"{p}.6.scale"][:, None] * h
        return y.unflatten(0, (len(x), -1)).transpose(1, 2) if x.dim() == 4 else y

    def group_norm(self, name, x):
        return F.group_norm(x, 1, self.w[f"{name}.weight"], self.w[f"{name}.bias"], EPSILON)

    def layer_norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.w[f"{name}.weight"], self.w[f"{name}.bias"])

    def cross(self, x, xt):
        bins, frames, k = *x.shape[2:], self.k
        y, yt = x.flatten(2), xt
        if k["bottom_channels"]:
            y = self.of("channel_upsampler", F.conv1d, y)
            yt = self.of("channel_upsampler_t", F.conv1d, yt)
        dim, length = y.shape[1], yt.shape[-1]
        if self.codes is None:
            self.codes = (sinusoids_in_spectrum(frames, bins, dim, k["t_max_period"]),
                          sinusoids_in_time(length, dim, k["t_max_period"]))
        y = y.unflatten(2, (bins, frames)).permute(0, 3, 2, 1).flatten(1, 2)
        y = self.layer_norm("crosstransformer.norm_in", y) + self.codes[0]
        yt = self.layer_norm("crosstransformer.norm_in_t", yt.transpose(1, 2)) + self.codes[1]
        for i in range(k["t_layers"]):
            names = f"crosstransformer.layers.{i}", f"crosstransformer.layers_t.{i}"
            if i % 2:
                y, yt = self.layer(names[0], y, yt), self.layer(names[1], yt, y)
            else:
                y, yt = self.layer(names[0], y), self.layer(names[1], yt)
        y = y.unflatten(1, (frames, bins)).permute(0, 3, 2, 1).flatten(2)
        yt = yt.transpose(1, 2)
        if k["bottom_channels"]:
            y = self.of("channel_downsampler", F.conv1d, y)
            yt = self.of("channel_downsampler_t", F.conv1d, yt)
        return y.unflatten(2, (bins, frames)), yt

    def layer(self, name, x, other=None):
        q = self.layer_norm(f"{name}.norm1", x)
        kv = q if other is None else self.layer_norm(f"{name}.norm2", other)
        kind, last = ("self_attn", "norm2") if other is None else ("cross_attn", "norm3")
        x = x + self.w[f"{name}.gamma_1.scale"] * self.attend(f"{name}.{kind}", q, kv)
        h = self.of(f"{name}.linear1", F.linear, self.layer_norm(f"{name}.{last}", x))
        h = self.of(f"{name}.linear2", F.linear, F.gelu(h))
        x = x + self.w[f"{name}.gamma_2.scale"] * h
        return self.group_norm(f"{name}.norm_out", x.transpose(1, 2)).transpose(1, 2)

    def attend(self, name, q, kv):
        matrix, bias = self.w[f"{name}.in_proj_weight"], self.w[f"{name}.in_proj_bias"]
        dim = q.shape[-1]
        if q is kv:
            parts = F.linear(q, matrix, bias).chunk(3, -1)
        else:
            parts = (F.linear(q, matrix[:dim], bias[:dim]),
                     *F.linear(kv, matrix[dim:], bias[dim:]).chunk(2, -1))
        heads = (y.unflatten(-1, (self.k["t_heads"], -1)).transpose(1, 2) for y in parts)
        y = F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        return self.of(f"{name}.out_proj", F.linear, y)


def normalized(x):
    axes = tuple(range(1, x.dim()))
    mean, std = x.mean(axes, keepdim=True), x.std(axes, keepdim=True)
    return (x - mean) / (EPSILON + std), mean, std
