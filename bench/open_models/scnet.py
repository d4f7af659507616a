"""SCNet in PyTorch, from its weights by name (models/scnet)."""

import math

import torch
import torch.nn.functional as F


def load(weights, kwargs):
    """A function of mixtures [batch, channels, samples], to all stems."""
    lstms = {}
    bands = list(zip(kwargs["band_stride"], kwargs["band_kernel"], kwargs["conv_depths"]))
    low, mid, _ = kwargs["band_SR"]

    def get(name):
        return weights[f"{name}.weight"].to(torch.get_default_device()), \
            weights[f"{name}.bias"].to(torch.get_default_device())

    def recurrent(name, x):
        if name not in lstms:
            hidden, dim = weights[f"{name}.weight_hh_l0"].shape[1], x.shape[2]
            lstm = torch.nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
            own = {key: weights[f"{name}.{key}"] for key in lstm.state_dict()}
            lstm.load_state_dict(own)
            lstms[name] = lstm.eval()
        return lstms[name](x)[0]

    def residual(name, x, depth):
        batch, dim, bins, frames = x.shape
        x = x.transpose(1, 2).reshape(batch * bins, dim, frames)
        half = kwargs["conv_kernel"] // 2
        for i in range(depth):
            own = f"{name}.layers.{i}"
            y = F.group_norm(x, 1, *get(f"{own}.0"))
            y = F.glu(F.conv1d(y, *get(f"{own}.1"), padding=half), 1)
            y = F.conv1d(y, *get(f"{own}.3"), padding=half, groups=y.shape[1])
            y = F.silu(F.group_norm(y, 1, *get(f"{own}.4")))
            x = x + F.conv1d(y, *get(f"{own}.6"))
        return x.reshape(batch, bins, dim, frames).transpose(1, 2)

    def encode(name, x):
        bins = x.shape[2]
        a, b = math.ceil(bins * low), math.ceil(bins * (low + mid))
        parts = [x[:, :, :a], x[:, :, a:b], x[:, :, b:]]
        outputs = []
        for i, (part, (stride, kernel, depth)) in enumerate(zip(parts, bands)):
            missing = kernel - 1 if stride == 1 else -part.shape[2] % stride
            part = F.pad(part, (0, 0, missing // 2, missing - missing // 2))
            part = F.conv2d(part, *get(f"{name}.SDlayer.convs.{i}"), stride=(stride, 1))
            outputs.append(F.gelu(residual(f"{name}.conv_modules.{i}", part, depth)))
        skip = torch.cat(outputs, 2)
        sizes = [part.shape[2] for part in parts], [part.shape[2] for part in outputs]
        return F.conv2d(skip, *get(f"{name}.globalconv"), padding=1), skip, sizes

    def path(name, i, x, order):
        y = F.group_norm(x, 1, *get(f"{name}.norm_layers.{i}")).permute(order)
        rows = recurrent(f"{name}.lstm_layers.{i}", y.reshape(-1, *y.shape[2:]))
        y = F.linear(rows, *get(f"{name}.linear_layers.{i}")).reshape(y.shape)
        return x + y.permute([order.index(axis) for axis in range(4)])

    def dual_path(i, x):
        name = f"separation_net.dp_modules.{i}"
        x = path(name, 0, x, (0, 3, 2, 1))
        x = path(name, 1, x, (0, 2, 3, 1))
        if i % 2 == 0:
            spectrum = torch.fft.rfft(x, norm="ortho")
            return torch.cat([spectrum.real, spectrum.imag], 1)
        return torch.fft.irfft(torch.complex(*x.chunk(2, 1)), norm="ortho")

    def decode(name, x, skip, sizes):
        x = x + skip
        x = F.glu(F.conv2d(torch.cat([x, x], 1), *get(f"{name}.0.conv"), padding=1), 1)
        outputs = []
        for i, part in enumerate(x.split(sizes[1], 2)):
            part = F.conv_transpose2d(part, *get(f"{name}.1.convtrs.{i}"), stride=(bands[i][0], 1))
            wanted = sizes[0][i]
            start = abs(wanted - part.shape[2]) // 2
            outputs.append(part[:, :, start:start + wanted])
        return torch.cat(outputs, 2)

    def separate(mixture):
        batch, channels, samples = mixture.shape
        window, hop = kwargs["nfft"], kwargs["hop_size"]
        missing = hop - samples % hop
        if (samples + missing) // hop % 2 == 0:
            missing += hop
        waves = F.pad(mixture, (0, missing)).reshape(-1, samples + missing)
        flat = torch.ones(window)
        spectrum = torch.stft(waves, window, hop, window=flat, normalized=True,
                              return_complex=True)
        x = torch.view_as_real(spectrum).permute(0, 3, 1, 2)
        x = x.reshape(batch, 2 * channels, *x.shape[2:])
        kept = []
        for i in range(len(kwargs["dims"]) - 1):
            x, *facts = encode(f"encoder.{i}", x)
            kept.append(facts)
        for i in range(kwargs["num_dplayer"]):
            x = dual_path(i, x)
        for i, facts in enumerate(reversed(kept)):
            x = decode(f"decoder.{i}", x, *facts)
        parts = x.reshape(-1, 2, *x.shape[2:]).permute(0, 2, 3, 1).contiguous()
        waves = torch.istft(torch.view_as_complex(parts.float()), window, hop, window=flat,
                            normalized=True, length=samples)
        return waves.reshape(batch, -1, channels, samples)

    return separate
