"""Mixtures: what must never come out of them."""

import tempfile
import unittest
from pathlib import Path

import numpy as np

from winnow_training.data.audio import RATE, Clip, write_bank
from winnow_training.data.mixtures import SAMPLES, Bank, level, together


class Silence(unittest.TestCase):
    def test_two_recordings_that_are_faded_out_where_they_sound_are_heard_at_once(self):
        early, late = np.zeros(SAMPLES, np.float32), np.zeros(SAMPLES, np.float32)
        early[: SAMPLES // 8], late[-SAMPLES // 8 :] = 1, 1
        for seed in range(50):
            made = together(level(late), level(early), np.random.default_rng(seed))
            self.assertAlmostEqual(float((made**2).mean()), 1, places=3)


class Rumble(unittest.TestCase):
    def test_clips_are_drawn_without_offset_and_rumble(self):
        time = np.arange(2 * SAMPLES) / RATE
        sound = np.sin(2 * np.pi * 440 * time) + np.sin(2 * np.pi * 8 * time) + 0.5
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder)
            write_bank(cache, "test", "organ", [Clip(sound, "origin", "licence", "author")])
            np.savez(cache / "text.npz")
            drawn = Bank(cache, "test", "held_out").clip("organ", np.random.default_rng(0), False)
        powers = np.abs(np.fft.rfft(drawn * np.hanning(SAMPLES))) ** 2
        below = powers[np.fft.rfftfreq(SAMPLES, 1 / RATE) < 15].sum()
        self.assertLess(below / powers.sum(), 1e-6)
