"""AudioSep in PyTorch, from its weights by name: what `bench/open-models.ts` compares with. Its
transform is an FFT; the reference's own multiplies with a matrix, which takes longer.
"""

import torch
from torch.nn import functional as F

POOLS = [(2, 2)] * 5 + [(1, 2)]


def load(weights, hop):
    """Weights by their names in the checkpoint; returns (waves [B, N], conditions) to [B, N]."""
    net = Network({name.removeprefix("ss_model."): value for name, value in weights.items()}, hop)
    return net.separate


class Network:
    def __init__(self, weights, hop):
        self.w = weights
        self.hop = hop
        self.window = 2 * (len(weights["base.bn0.weight"]) - 1)

    def separate(self, waves, condition):
        hann = torch.hann_window(self.window)
        z = torch.stft(waves, self.window, self.hop, window=hann, return_complex=True)
        magnitude = z.abs().square().clamp(min=1e-10).sqrt()  # [B, bins, T]
        answer = self.forward(magnitude.transpose(1, 2)[:, None], condition).float()
        gain, re, im = answer.transpose(2, 3)[..., :z.shape[-1]].unbind(1)
        turn = torch.complex(re.tanh(), im.tanh())
        turn = turn / turn.abs().clamp(min=1e-10)
        target = F.pad(gain.sigmoid() * turn, (0, 0, 0, 1)) * z
        return torch.istft(target, self.window, self.hop, window=hann, length=waves.shape[-1])

    def forward(self, x, condition):
        """magnitude [B, 1, T, bins] to [B, 3, T or more, bins - 1]."""
        self.condition = condition
        x = self.norm("base.bn0", x.transpose(1, 3)).transpose(1, 3)
        x = F.pad(x, (0, 0, 0, -x.shape[2] % 32))[..., :-1]
        x = self.pointwise("base.pre_conv", x)
        skips = []
        for i, pool in enumerate(POOLS):
            skips.append(self.block(f"encoder_block{i + 1}", "conv_block1", x))
            x = F.avg_pool2d(skips[-1], pool)
        x = self.block("conv_block7a", "conv_block1", x)
        for j, pool in enumerate(reversed(POOLS)):
            name = f"decoder_block{j + 1}"
            y = self.norm(f"base.{name}.bn1", x) + self.shift(f"{name}->beta1")
            weight = self.w[f"base.{name}.conv1.weight"]
            y = F.conv_transpose2d(F.leaky_relu(y, 0.01), weight, stride=pool)
            x = self.block(name, "conv_block2", torch.cat([y, skips.pop()], 1))
        return self.pointwise("base.after_conv", x)

    def block(self, block, part, x):
        name, film = f"base.{block}.{part}", f"{block}->{part}"
        y = self.norm(f"{name}.bn1", x) + self.shift(f"{film}->beta1")
        y = F.conv2d(F.leaky_relu(y, 0.01), self.w[f"{name}.conv1.weight"], padding=1)
        y = self.norm(f"{name}.bn2", y) + self.shift(f"{film}->beta2")
        y = F.conv2d(F.leaky_relu(y, 0.01), self.w[f"{name}.conv2.weight"], padding=1)
        has_shortcut = f"{name}.shortcut.weight" in self.w
        return y + (self.pointwise(f"{name}.shortcut", x) if has_shortcut else x)

    def norm(self, name, x):
        values = (self.w[f"{name}.{part}"]
                  for part in ("running_mean", "running_var", "weight", "bias"))
        return F.batch_norm(x, *values)

    def shift(self, name):
        weight, bias = (self.w[f"film.{name}.{part}"] for part in ("weight", "bias"))
        return F.linear(self.condition, weight, bias)[:, :, None, None]

    def pointwise(self, name, x):
        return F.conv2d(x, self.w[f"{name}.weight"], self.w[f"{name}.bias"])
