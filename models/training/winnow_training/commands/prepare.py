"""Makes the banks of clips that mixtures are made of: `mini-prepare --esc10 FOLDER CACHE`.

A bank is a class's clips of one split. A class that several sources give is the sum of them, but
that real recordings (`--real`) have banks of their own, in the folder `recordings`.
"""

import argparse
from pathlib import Path

import numpy as np

from winnow_training.data.audio import RECORDINGS, Clip, read_mono, shared, write_bank
from winnow_training.data.manifests import write_manifest
from winnow_training.data.sources import esc10, instruments, recordings, synthesizer, voices
from winnow_training.data.synthesis import imitations, procedural

SECONDS = 8
PROCEDURAL_COUNTS = {"train": 160, "test": 10}
PLAIN_COUNTS = {"train": 40}
IMITATION_COUNTS = {"train": 5}
"""Far fewer than there are recordings, and none to be tested on."""


def synthesised_clips(sounds, counts) -> dict[str, dict[str, list[Clip]]]:
    """Class to split to clips; every clip has a generator of its own, by name."""
    made = {}
    for name, synthesise in sounds.items():
        for split, count in counts.items():
            seeds = [[*f"{split} {name} {number}".encode()] for number in range(count)]
            waves = [synthesise(np.random.default_rng(seed), SECONDS) for seed in seeds]
            clips = [Clip(wave, f"synthesised {name}", "own", "Winnow") for wave in waves]
            made.setdefault(name, {})[split] = clips
    return made


def folder_clips(folder: Path) -> dict[str, dict[str, list[Clip]]]:
    """An operator's own sounds: a folder for each class; every eighth file is held out."""
    made = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        paths = sorted(path for path in place.rglob("*") if path.is_file())
        clips = [Clip(read_mono(path), str(path.relative_to(folder)), "", "") for path in paths]
        splits = {"train": [], "test": []}
        for number, clip in enumerate(clips):
            splits["test" if number % 8 == 7 else "train"].append(clip)
        made[place.name] = splits
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path, help="where the banks go")
    parser.add_argument("--esc10", type=Path, help="ESC-10 by class, with ATTRIBUTION.csv")
    parser.add_argument(
        "--real",
        type=Path,
        nargs="+",
        default=[],
        help="folders of real voices, instruments and sounds, each with ATTRIBUTION.csv",
    )
    parser.add_argument("--own", type=Path, help="a folder with a folder of sounds for each class")
    parser.add_argument(
        "--share",
        type=float,
        default=1.0,
        help="of the synthetic clips to train on; the test's are always whole",
    )
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    sources = [lambda: esc10.clips(options.esc10)] if options.esc10 else []
    share = options.share
    sources += [
        lambda: synthesised_clips(procedural.SOUNDS, shared(PROCEDURAL_COUNTS, share)),
        lambda: synthesised_clips(procedural.PLAIN, shared(PLAIN_COUNTS, share)),
        lambda: synthesised_clips(imitations.SOUNDS, IMITATION_COUNTS),
        lambda: instruments.clips(share),
        lambda: synthesizer.clips(share),
        lambda: voices.clips(share),
    ]
    sources += [lambda: folder_clips(options.own)] if options.own else []
    if options.real:
        # each folder is split by itself, so a further one changes no earlier test
        folders = [lambda folder=folder: recordings.clips(folder) for folder in options.real]
        write_banks(options.cache / RECORDINGS, folders)
    write_banks(options.cache, sources)


def write_banks(folder: Path, sources):
    """Writes the clips of `sources` by class and split, and whose each is."""
    folder.mkdir(exist_ok=True)
    gathered = {}
    for source in sources:
        for name, splits in source().items():
            for split, clips in splits.items():
                if clips:
                    gathered.setdefault((split, name), []).extend(clips)
    for (split, name), clips in sorted(gathered.items()):
        write_bank(folder, split, name, clips)
    write_manifest(folder)


if __name__ == "__main__":
    main()
