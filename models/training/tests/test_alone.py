"""Tests mini-alone's report on lone sounds."""

import unittest

import numpy as np
import torch

from winnow_training.commands.alone import Answer, alone, report
from winnow_training.data.audio import RATE
from winnow_training.model.network import PATCH, TEXT, WINDOW

OPEN = 20.0


class Everything:
    """A network that lets everything through; `activity` is how sure it is, a logit."""

    window = torch.hann_window(WINDOW)

    def __init__(self, activity: float):
        self.activity = activity

    def __call__(self, x, embedding, spans, queries):
        batch, tokens = x.shape[:2]
        logits = torch.full((batch, tokens * PATCH, WINDOW // 2 + 1), OPEN)
        return logits, torch.full((batch, tokens), self.activity)


class Alone(unittest.TestCase):
    def test_what_is_lost_is_what_the_network_takes_away_and_the_match_softens(self):
        rng = np.random.default_rng(0)
        for samples in (3 * RATE, RATE // 50):
            sound = rng.standard_normal(samples).astype(np.float32)
            for activity, expected in ((OPEN, 0), (-OPEN, 28)):
                loss, match = alone(Everything(activity), sound, torch.zeros(1, TEXT))
                self.assertAlmostEqual(loss, expected, delta=0.1)
                self.assertAlmostEqual(match, float(activity > 0), delta=0.01)

    def test_the_report_keeps_held_out_apart_and_names_the_worst_first(self):
        answers = [
            Answer("bass", "bass/a.ogg", False, 0.1, 1.0),
            Answer("bass", "bass/b.ogg", True, 4.0, 0.9),
            Answer("sitar", "sitar/c.ogg", False, 70.0, 0.05),
        ]
        lines = report(answers).splitlines()
        self.assertIn("| bass | 1 · 1 | 0.1 · 4.0 | 0 · 1 | 0 · 0 | 0 · 0 |", lines)
        self.assertIn("| sitar | 1 · – | 70.0 · – | 1 · – | 1 · – | 1 · – |", lines)
        self.assertEqual(lines[-2], "sitar/c.ogg (trained on): -70.0 dB, match 0.05")
        self.assertEqual(lines[-1], "bass/b.ogg (held out): -4.0 dB, match 0.90")


if __name__ == "__main__":
    unittest.main()
