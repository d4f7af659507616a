"""Converts ComfyUI's AUDIO from and to WAV files."""

from __future__ import annotations

import struct
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

# [channels, samples]
Planes = NDArray[np.float32]

_FLOAT, _PCM = 3, 1
_EXTENSIBLE = 0xFFFE


class Audio(TypedDict):
    """ComfyUI's AUDIO."""

    # A tensor of float32, [batch, channels, samples].
    waveform: Any
    sample_rate: int


def items_of(audio: Audio) -> list[Planes]:
    """Returns the sounds of a batch."""
    return list(audio["waveform"].detach().cpu().float().numpy())


def batch_of(items: list[Planes], sample_rate: int) -> Audio:
    """Makes a batch of sounds, which must have one shape."""
    import torch

    return {"waveform": torch.from_numpy(np.stack(items)), "sample_rate": sample_rate}


def write_wav(planes: Planes, sample_rate: int) -> bytes:
    """Returns a file of 32-bit floats, which keeps every sample exactly."""
    channels = planes.shape[0]
    data = np.ascontiguousarray(planes.T, dtype="<f4").tobytes()
    size = 4 * channels
    form = struct.pack("<HHIIHH", _FLOAT, channels, sample_rate, sample_rate * size, size, 32)
    chunks = _chunk(b"fmt ", form) + _chunk(b"data", data)
    return _chunk(b"RIFF", b"WAVE" + chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content


def read_wav(file: bytes) -> tuple[Planes, int]:
    """Reads a file of 24 bits, as the service writes it.

    :returns: its samples and their rate
    :raises ValueError: for any other file
    """
    form, data = b"", b""
    start = 12
    while start + 8 <= len(file):
        name, size = file[start : start + 4], struct.unpack_from("<I", file, start + 4)[0]
        content = file[start + 8 : start + 8 + size]
        form = content if name == b"fmt " else form
        data = content if name == b"data" else data
        start += 8 + size + size % 2
    if file[:4] != b"RIFF" or len(form) < 16:
        raise ValueError("The service answered with something other than a WAV file.")
    coding, channels, sample_rate, _, _, bits = struct.unpack_from("<HHIIHH", form)
    if coding not in (_PCM, _EXTENSIBLE) or bits != 24:
        raise ValueError(f"The service answered with a WAV file of {bits} bits in place of 24.")
    triples = np.frombuffer(data, np.uint8).reshape(-1, 3)
    words = np.zeros((len(triples), 4), np.uint8)
    words[:, 1:] = triples  # in the upper bytes, so that the sign is right and the scale is 2^31
    samples = words.view("<i4").reshape(-1, channels)
    return np.ascontiguousarray(samples.T).astype(np.float32) / np.float32(2**31), int(sample_rate)
