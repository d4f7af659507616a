"""A mixture's sources: which classes there are, and what a telephone leaves of them."""

import tempfile
import unittest
from pathlib import Path

import numpy as np

from winnow_training.data.audio import RATE, RECORDINGS, Clip, write_bank
from winnow_training.data.mixtures import (
    BANDS,
    HERTZ,
    OTHER,
    SAMPLES,
    example,
    level,
    limit_band,
    training_bank,
)
from winnow_training.data.phrasings import load_phrasings

RECORDED = ("piano", "flute", "organ", "woman", "cat", "door", OTHER)


def write_cache(cache: Path, rng):
    """Banks of real recordings alone, and prompts for all names."""
    (cache / RECORDINGS).mkdir()
    for name in RECORDED:
        clips = [Clip(rng.standard_normal(3 * RATE), name, "CC0", "someone") for _ in range(3)]
        write_bank(cache / RECORDINGS, "train", name, clips)
    phrasings = load_phrasings()
    names = {**phrasings["classes"], **phrasings["groups"]}
    prompts = {
        f"train/{name}": rng.standard_normal((len(words["train"]), 384))
        for name, words in names.items()
    }
    np.savez(cache / "text.npz", **prompts)


class RecordedAlone(unittest.TestCase):
    def test_classes_that_have_real_recordings_only_are_drawn_from_these(self):
        rng = np.random.default_rng(0)
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder)
            write_cache(cache, rng)
            bank = training_bank(cache)
            self.assertEqual({*bank.names}, {*RECORDED} - {OTHER})
            self.assertEqual(bank.groups["animal"], {"cat"})
            for _ in range(20):
                mixture, queries = example(bank, rng)
                self.assertAlmostEqual(float((mixture**2).mean()) ** 0.5, 0.1, places=3)
                self.assertEqual(len(queries), 2)


class Bands(unittest.TestCase):
    def shares(self, sources, kinds):
        """For each band drawn, the share of the sources' power above 4 and 8 kHz."""
        above = []
        for seed in range(kinds):
            sent = limit_band(sources, np.random.default_rng(seed))
            powers = np.abs(np.fft.rfft(sum(sent))) ** 2
            above.append([powers[HERTZ > edge].sum() / powers.sum() for edge in (4000, 8000)])
        return np.array(above)

    def test_a_share_of_mixtures_has_a_telephones_band_or_16_kilohertz(self):
        noise = np.random.default_rng(1).standard_normal((2, SAMPLES)).astype(np.float32)
        over_4, over_8 = self.shares([*noise], 200).T
        narrow = BANDS["telephone"], BANDS["wide"]
        self.assertAlmostEqual((over_4 < 1e-4).mean(), narrow[0], delta=0.1)
        self.assertGreater((over_8 < 1e-3).mean(), sum(narrow) - 0.05)
        self.assertGreater((over_8 > 0.4).mean(), BANDS["whole"] - 0.1)

    def test_sources_of_which_nothing_would_be_left_stay_whole(self):
        time = np.arange(SAMPLES) / RATE
        drum = level(np.sin(2 * np.pi * 50 * time) * np.exp(-4 * (time % 1)))
        for seed in range(40):
            for sent in limit_band([drum, drum], np.random.default_rng(seed)):
                self.assertGreater((sent**2).mean(), 0.01)


if __name__ == "__main__":
    unittest.main()
