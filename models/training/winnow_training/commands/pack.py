"""Packs a cache's training banks and prompts into pieces, to move them to a machine with a GPU:
`mini-pack CACHE FOLDER`. Sound is encoded as Ogg Vorbis, in about a ninth of the space.
"""

import argparse
from pathlib import Path

from winnow_training.data.pieces import pack


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=float, default=60, help="size of a piece, at most")
    options = parser.parse_args()
    for path in pack(options.cache, options.folder, round(options.megabytes * 1e6)):
        print(f"{path}: {path.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
