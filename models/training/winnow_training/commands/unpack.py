"""Unpacks pieces of `mini-pack` into a cache: `mini-unpack CACHE PIECE …`. Training can begin with
the first pieces and go on with all.
"""

import argparse
from pathlib import Path

from winnow_training.data.pieces import unpack


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("pieces", type=Path, nargs="+")
    options = parser.parse_args()
    unpack(options.pieces, options.cache)


if __name__ == "__main__":
    main()
