"""Tests the device's mixing of targets that it has."""

import unittest

import numpy as np
import torch

from winnow_training.data.mixtures import MIXTURE_RMS, PLACE
from winnow_training.model.feed import batch_shapes, split_batch
from winnow_training.model.remix import PER_BATCH, Remixer, tell_apart


def make_batch(count: int, names: list[str], seed: int):
    """Random targets, of which every fourth is absent; `asked` turns through `names`."""
    floats = sum(int(np.prod(shape)) for shape in batch_shapes(count))
    generator = torch.Generator().manual_seed(seed)
    tensors = split_batch(torch.randn(floats, generator=generator), count)
    absent = (torch.arange(2 * count) % 4 == 3).float().view(count, 2)
    places = [PLACE[names[number % len(names)]] for number in range(2 * count)]
    tensors[1] = tensors[1] * (1 - absent)[..., None]
    tensors[3], tensors[6] = absent, torch.tensor(places).float().view(count, 2)
    return tensors, tensors[6].numpy(), absent.numpy()


class Remixes(unittest.TestCase):
    def test_what_sounds_alike_is_never_in_one_mixture(self):
        apart = tell_apart()
        self.assertTrue((apart == apart.T).all())
        self.assertTrue(apart[PLACE["woman"], PLACE["dog"]])
        for one, other in (("woman", "woman"), ("woman", "speech"), ("piano", "music")):
            self.assertFalse(apart[PLACE[one], PLACE[other]])

    def test_a_mixture_is_its_targets_at_the_level_of_mixtures(self):
        remixer = Remixer(0)
        for seed in range(2):
            remixer.keep(*make_batch(8, ["woman", "dog", "piano", "rain", "clock"], seed))
        made = [remixer.make() for _ in range(2 * PER_BATCH)]
        self.assertIsNone(remixer.make())
        for mixture, targets, _, absent, *_, asked in made:
            self.assertEqual(targets.shape[:2], (8, 2))
            rms = mixture.pow(2).mean(1).sqrt()
            torch.testing.assert_close(rms, torch.full_like(rms, MIXTURE_RMS))
            self.assertFalse(absent[:, 0].any())
            is_whole = absent[:, 1] == 0
            whole = targets[is_whole].sum(1)
            torch.testing.assert_close(whole, mixture[is_whole])
            self.assertFalse(targets[:, 1][~is_whole].any())
            first, second = asked.long().unbind(1)
            self.assertTrue(remixer.apart[first, second].all())

    def test_company_of_the_same_family_as_often_as_asked_for(self):
        names = ["woman", "man", "dog", "piano", "cello", "rain"]
        families = [{PLACE[name] for name in names[start : start + 2]} for start in (0, 3)]
        for alike, least, most in ((0, 0, 0.5), (1, 1, 1)):
            remixer = Remixer(0, alike)
            for seed in range(2):
                remixer.keep(*make_batch(24, names, seed))
            asked, absent = (
                np.concatenate([kept[field] for kept in remixer.kept]) for field in (1, 2)
            )
            one, other, _ = remixer.choose(asked, absent, 200)
            for family in families:
                company = asked[other][np.isin(asked[one], [*family])]
                share = np.isin(company, [*family]).mean()
                self.assertGreaterEqual(share, least)
                self.assertLessEqual(share, most)


if __name__ == "__main__":
    unittest.main()
