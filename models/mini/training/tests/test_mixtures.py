"""Mixtures: what must never come out of them."""

import unittest

import numpy as np

from winnow_training.data.mixtures import SAMPLES, level, together


class Silence(unittest.TestCase):
    def test_two_recordings_that_are_faded_out_where_they_sound_are_heard_at_once(self):
        early, late = np.zeros(SAMPLES, np.float32), np.zeros(SAMPLES, np.float32)
        early[: SAMPLES // 8], late[-SAMPLES // 8 :] = 1, 1
        for seed in range(50):
            made = together(level(late), level(early), np.random.default_rng(seed))
            self.assertAlmostEqual(float((made**2).mean()), 1, places=3)
