"""A cache comes back from its pieces."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from winnow_training.data.audio import RATE, RECORDINGS, Clip, write_bank
from winnow_training.data.pieces import order_banks, pack, unpack

ORDER = [
    "train-dog",
    "train-other",
    f"{RECORDINGS}/train-woman",
    f"{RECORDINGS}/train-flute",
    "train-organ",
    "train-flute",
]


class Pieces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cache, self.there = self.folder / "cache", self.folder / "there"
        part = mock.patch("winnow_training.data.pieces.PART_SECONDS", 15)
        part.start()
        self.addCleanup(part.stop)
        time = np.arange(20 * RATE) / RATE
        sweep = 0.5 * np.sin(2 * np.pi * (100 + 50 * time) * time)
        (self.cache / RECORDINGS).mkdir(parents=True)
        for bank in (*ORDER, "test-organ"):
            split, name = Path(bank).name.split("-")
            clips = [Clip(part, bank, "CC0", "someone") for part in (sweep, sweep[: RATE + 7])]
            write_bank((self.cache / bank).parent, split, name, clips)
        self.prompts = np.random.default_rng(0).standard_normal((3, 384)).astype(np.float32)
        np.savez(self.cache / "text.npz", **{"train/dog": self.prompts})

    def test_banks_to_train_on_and_prompts_come_back(self):
        whole = pack(self.cache, self.folder / "whole", 10**9)[0].stat().st_size
        pieces = pack(self.cache, self.folder / "pieces", whole // 2)
        self.assertGreater(len(pieces), 1)
        for piece in pieces:
            self.assertLessEqual(piece.stat().st_size, whole // 2)
        unpack(pieces[::-1], self.there)
        for bank in ORDER:
            before, after = (np.load(root / f"{bank}.npy") for root in (self.cache, self.there))
            self.assertEqual((after.dtype, after.shape), (np.int16, before.shape))
            error = (before.astype(float) - after) ** 2
            self.assertLess(error.mean(), 1e-3 * (before.astype(float) ** 2).mean())
            notes = [(root / f"{bank}.json").read_text() for root in (self.cache, self.there)]
            self.assertEqual(*notes)
        self.assertFalse((self.there / "test-organ.npy").exists())
        with np.load(self.there / "text.npz") as text:
            np.testing.assert_allclose(text["train/dog"], self.prompts, atol=2e-3)

    def test_what_is_wanted_most_comes_first(self):
        self.assertEqual([f"{path.with_suffix('')}" for path in order_banks(self.cache)], ORDER)

    def test_a_bank_that_no_piece_can_hold_is_refused(self):
        with self.assertRaisesRegex(ValueError, "more than a piece"):
            pack(self.cache, self.folder / "pieces", 20_000)


if __name__ == "__main__":
    unittest.main()
