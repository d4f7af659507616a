"""Pieces of a cache, each of bounded size, to move it to a machine with a GPU.

A piece is a ZIP file of banks to train on; the first also holds the prompts. A bank is its JSON and
parts of PART_SECONDS in Ogg Vorbis, which all processors decode. Pieces are in order of importance:
training can begin with the first ones.
"""

import io
import json
import multiprocessing
import shutil
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import soundfile

from winnow_training.data.audio import RATE, RECORDINGS
from winnow_training.data.mixtures import REAL, SPEECH
from winnow_training.data.phrasings import OTHER

PART_SECONDS = 120
QUALITY = 0.4
"""Vorbis quality, 0 to 1: most recordings have been through a lossy codec before."""
PROMPTS = "text.npz"
ENTRY_BYTES = 250
"""ZIP overhead of each file, at most."""
FULL_SCALE = 32767


def pack(cache: Path, folder: Path, piece_bytes: int) -> list[Path]:
    """Writes `piece.00` …, none longer than `piece_bytes`. No bank spans two pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces: list[dict[str, bytes]] = []
    with multiprocessing.Pool() as pool:
        banks = pool.imap(encode_bank, [(cache, path) for path in order_banks(cache)])
        for files in [{PROMPTS: encode_prompts(cache)}, *banks]:
            size = count_bytes(files)
            if size > piece_bytes:
                raise ValueError(f"{next(iter(files))} takes {size} bytes: more than a piece")
            room = (piece for piece in pieces if count_bytes(piece) + size <= piece_bytes)
            piece = next(room, None)
            if piece is None:
                pieces.append(files)
            else:
                piece |= files
    paths = [folder / f"piece.{number:02}" for number in range(len(pieces))]
    for path, files in zip(paths, pieces):
        with ZipFile(path, "w") as file:
            for name, content in files.items():
                file.writestr(name, content, ZIP_DEFLATED if name.endswith("json") else ZIP_STORED)
    return paths


def count_bytes(files: dict[str, bytes]) -> int:
    return sum(len(content) + ENTRY_BYTES for content in files.values())


def order_banks(cache: Path) -> list[Path]:
    """Returns the JSON of each bank to train on, relative to the cache: ESC-10's classes first and
    sounds without a name, which every mixture may have, then real recordings, voices, and what has
    the fewest real recordings."""
    first, voices = [*REAL, OTHER], [*SPEECH, "singing"]

    def want(path: Path):
        name = path.stem.removeprefix("train-")
        is_made = path.parent.name != RECORDINGS
        recorded = cache / RECORDINGS / f"train-{name}.npy"
        size = recorded.stat().st_size if is_made and recorded.exists() else 0
        return name not in first, is_made, name not in voices, size, path

    found = [*cache.glob("train-*.json"), *(cache / RECORDINGS).glob("train-*.json")]
    return sorted((path.relative_to(cache) for path in found), key=want)


def encode_bank(bank: tuple[Path, Path]) -> dict[str, bytes]:
    """Returns the files of one bank of a cache: its JSON and its encoded sound."""
    cache, path = bank
    samples = np.load((cache / path).with_suffix(".npy"), mmap_mode="r")
    length = PART_SECONDS * RATE
    files = {str(path): (cache / path).read_bytes()}
    for start in range(0, len(samples), length):
        files[name_part(path, start)] = encode(samples[start : start + length])
    return files


def name_part(path: Path, start: int) -> str:
    return f"{path.with_suffix('')}.{start}.ogg"


def encode(samples: np.ndarray) -> bytes:
    """Encodes int16 as Ogg Vorbis, by seconds: libsndfile keeps a call's samples on its stack."""
    content = io.BytesIO()
    with soundfile.SoundFile(
        content, "w", RATE, 1, format="OGG", subtype="VORBIS", compression_level=1 - QUALITY
    ) as file:
        for start in range(0, len(samples), RATE):
            file.write(samples[start : start + RATE])
    return content.getvalue()


def encode_prompts(cache: Path) -> bytes:
    """Encodes prompts in half precision: its error is far below the noise that mixtures add."""
    content = io.BytesIO()
    with np.load(cache / PROMPTS) as text:
        np.savez_compressed(content, **{name: text[name].astype(np.float16) for name in text.files})
    return content.getvalue()


def unpack(pieces: list[Path], cache: Path):
    """Adds the contents of `pieces` to a cache, which it creates if needed. A run that reads the
    cache meanwhile sees whole banks only."""
    partial = cache / "partial"
    (partial / RECORDINGS).mkdir(parents=True, exist_ok=True)
    (cache / RECORDINGS).mkdir(exist_ok=True)
    parts = []
    for piece in pieces:
        with ZipFile(piece) as file:
            for name in file.namelist():
                if name.endswith(".ogg"):
                    parts.append((piece, name, partial))
                elif name == PROMPTS:
                    write_prompts(file.read(name), partial)
                else:
                    begin_bank(Path(file.extract(name, partial)))
    with multiprocessing.Pool() as pool:
        for _ in pool.imap_unordered(write_part, parts):
            pass
    for path in sorted(path for path in partial.rglob("*") if path.is_file()):
        path.rename(cache / path.relative_to(partial))  # a bank's JSON is before its samples
    shutil.rmtree(partial)


def write_prompts(content: bytes, folder: Path):
    text = np.load(io.BytesIO(content))
    np.savez(folder / PROMPTS, **{name: text[name].astype(np.float32) for name in text.files})


def begin_bank(path: Path):
    """Creates a silent bank of the length in its JSON; `write_part` fills it."""
    samples = json.loads(path.read_text())["offsets"][-1]
    np.lib.format.open_memmap(path.with_suffix(".npy"), "w+", np.int16, (samples,))


def write_part(part: tuple[Path, str, Path]):
    piece, name, folder = part
    with ZipFile(piece) as file:
        samples, _ = soundfile.read(io.BytesIO(file.read(name)), dtype="float32")
    bank, start, _ = name.rsplit(".", 2)
    into = np.load(folder / f"{bank}.npy", mmap_mode="r+")[int(start) :][: len(samples)]
    into[:] = np.clip(np.rint(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE)
