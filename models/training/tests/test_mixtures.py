"""Mixtures: what must never come out of them."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from winnow_training.data.audio import RATE, Clip, write_bank
from winnow_training.data.mixtures import (
    CONFUSABLE,
    MELODIC,
    OTHER,
    SAMPLES,
    SPEED,
    VOICES,
    Bank,
    choose_sources,
    level,
    together,
)


class Silence(unittest.TestCase):
    def test_two_recordings_that_are_faded_out_where_they_sound_are_heard_at_once(self):
        early, late = np.zeros(SAMPLES, np.float32), np.zeros(SAMPLES, np.float32)
        early[: SAMPLES // 8], late[-SAMPLES // 8 :] = 1, 1
        for seed in range(50):
            made = together(level(late), level(early), np.random.default_rng(seed))
            self.assertAlmostEqual(float((made**2).mean()), 1, places=3)


class Rumble(unittest.TestCase):
    def setUp(self):
        time = np.arange(2 * SAMPLES) / RATE
        sound = np.sin(2 * np.pi * 440 * time) + np.sin(2 * np.pi * 8 * time) + 0.5
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cache = Path(folder.name)
        write_bank(cache, "test", "organ", [Clip(sound, "origin", "licence", "author")])
        np.savez(cache / "text.npz")
        self.bank = Bank(cache, "test", "held_out")

    def draw(self, seed, augmented):
        """A clip, the share of its power that is under 15 Hz, and the frequency of its peak."""
        drawn = self.bank.clip("organ", np.random.default_rng(seed), augmented)
        powers = np.abs(np.fft.rfft(drawn * np.hanning(SAMPLES))) ** 2
        frequencies = np.fft.rfftfreq(SAMPLES, 1 / RATE)
        below = powers[frequencies < 15].sum() / powers.sum()
        return drawn, below, frequencies[powers.argmax()]

    def test_clips_are_drawn_without_offset_and_rumble(self):
        self.assertLess(self.draw(0, False)[1], 1e-6)

    def test_augmented_clips_are_another_speed_of_the_same_sound_without_rumble(self):
        for seed in range(40):
            drawn, below, peak = self.draw(seed, True)
            self.assertEqual((drawn.shape, drawn.dtype), ((SAMPLES,), np.float32))
            self.assertAlmostEqual(float((drawn**2).mean()), 1, places=3)
            self.assertLess(below, 1e-4)  # a gate spreads what it cuts
            self.assertLess(abs(np.log(peak / 440)), SPEED + 0.01)


class Alike(unittest.TestCase):
    def test_two_voices_or_two_instruments_that_are_not_confusable(self):
        names = [*VOICES, *MELODIC, "dog", "rain"]
        weigh = {"man": 15.0, "woman": 15.0}
        bank = SimpleNamespace(names=names, weight=lambda name: weigh.get(name, 1.0))
        rng, kinds = np.random.default_rng(0), set()
        for _ in range(400):
            chosen = choose_sources(bank, rng, 1.0)
            kinds.add(chosen[0] in VOICES)
            family = VOICES if chosen[0] in VOICES else MELODIC
            self.assertEqual(len(set(chosen) & set(family)), 2)
            self.assertFalse(any(pair <= set(chosen) for pair in CONFUSABLE))
        self.assertEqual(kinds, {True, False})

    def test_no_sound_without_a_name_before_such_clips_are_there(self):
        names = ["dog", "rain", "clock"]
        for clips in ({*names}, {*names, OTHER}):
            bank = SimpleNamespace(names=names, weight=lambda name: 1.0, has=clips.__contains__)
            rng = np.random.default_rng(0)
            drawn = {name for _ in range(100) for name in choose_sources(bank, rng)}
            self.assertEqual(OTHER in drawn, OTHER in clips)


if __name__ == "__main__":
    unittest.main()
