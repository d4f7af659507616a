"""Tests what a mask tells of its target's quality."""

import unittest

import torch

from winnow_training.commands.quality import table
from winnow_training.model.quality import expected_sdr, features_of

POWER = torch.full((6, 4), 2.0)


class Quality(unittest.TestCase):
    def test_an_undecided_mask_expects_as_much_wrong_as_right(self):
        self.assertAlmostEqual(expected_sdr(torch.full((6, 4), 0.5), POWER), 0, places=4)
        nine = expected_sdr(torch.full((6, 4), 0.9), POWER)
        self.assertAlmostEqual(nine, 10 * torch.log10(torch.tensor(9.0)).item(), places=4)

    def test_only_bins_that_hold_power_count(self):
        mask, power = torch.full((6, 4), 0.5), POWER.clone()
        mask[:, 0], power[:, 1:] = 1, 0
        self.assertGreater(expected_sdr(mask, power), 60)

    def test_no_feature_depends_on_the_level(self):
        mask = torch.linspace(0.1, 0.9, 24).view(6, 4)
        activity = torch.tensor([-1.0, 0.0, 2.0])
        loud, soft = (features_of(mask, POWER * gain, activity, 0.5) for gain in (1.0, 0.01))
        for name, value in loud.items():
            self.assertAlmostEqual(value, soft[name], places=4, msg=name)

    def test_the_table_has_what_is_fitted_on_one_part_and_tested_on_another(self):
        mask = torch.linspace(0.2, 0.8, 24).view(6, 4)
        rows = []
        for level in range(12):
            activity = torch.full((3,), float(level % 5))
            features = features_of(mask ** (1 + level / 4), POWER, activity, float(level % 3))
            rows.append((features, features["expected SDR"] * 2 - 3))
        self.assertIn("| expected SDR | 1.00 | 1.00 | 1.00 |", table(rows, rows).splitlines())


if __name__ == "__main__":
    unittest.main()
