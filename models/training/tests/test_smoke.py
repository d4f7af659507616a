"""The whole way in small: banks, steps of training, a checkpoint, an export that loads."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # compiling takes longer than the steps of this test

import numpy as np  # noqa: E402
import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from winnow_training.commands.prepare import synthesised_clips, write_banks  # noqa: E402
from winnow_training.commands.train import PAUSE_SECONDS, Run, read_options  # noqa: E402
from winnow_training.data.audio import RATE  # noqa: E402
from winnow_training.data.mixtures import OTHER, WORDS, batch, training_bank  # noqa: E402
from winnow_training.data.synthesis import procedural  # noqa: E402
from winnow_training.model.checkpoints import (  # noqa: E402
    NAMES,
    load_average,
)
from winnow_training.model.export import golden, save, write_weights  # noqa: E402
from winnow_training.model.network import BANDS, PATCH, TEXT, TimeConv  # noqa: E402


def notes(rng, seconds: float) -> np.ndarray:
    """A harmonic tone for each half of a second, decaying."""
    time = np.arange(round(seconds * RATE)) / RATE
    pitch = 220 * 2 ** (rng.integers(0, 12, round(2 * seconds)) / 12)
    tones = sum(np.sin(2 * np.pi * np.repeat(pitch, RATE // 2) * k * time) / k for k in (1, 2, 3))
    return tones * np.exp(-6 * (time % 0.5))


SOUNDS = {
    **{name: procedural.SOUNDS[name] for name in ("airplane", "alarm", "drip")},
    **dict.fromkeys(("piano", "flute", "organ"), notes),
    OTHER: lambda rng, seconds: rng.standard_normal(round(seconds * RATE)),
}
SIZES = "--C 8 --D 16 --heads 2 --shared 1 --conditioned 1 --batch 2 --device cpu".split()
STEPS = 4
SERVED = Path(__file__).resolve().parents[2] / "mini" / "weights"


def write_prompts(cache: Path, rng):
    """text.npz with a random embedding for each phrasing: the text encoder is not needed."""

    def unit(rows):
        vectors = rng.standard_normal((rows, TEXT)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

    arrays = {
        f"{split}/{name}": unit(len(words[split]))
        for name, words in WORDS.items()
        for split in ("train", "held_out")
    }
    weight = 0.1 * rng.standard_normal((len(NAMES), TEXT)).astype(np.float32)
    meant = {"meant/weight": weight, "meant/bias": np.zeros(len(NAMES), np.float32)}
    np.savez(cache / "text.npz", **arrays, **meant)


class Smoke(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = Path(folder.name)
        rng = np.random.default_rng(0)
        write_banks(cls.cache, [lambda: synthesised_clips(SOUNDS, {"train": 2, "test": 1})])
        write_prompts(cls.cache, rng)
        torch.manual_seed(0)
        cls.options = read_options([str(cls.cache), "tiny", *SIZES])
        cls.run_ = Run(cls.options)
        cls.begun = {name: tensor.clone() for name, tensor in cls.run_.model.state_dict().items()}
        bank = training_bank(cls.cache)
        for _ in range(STEPS):
            made = batch(bank, rng, cls.options.batch)
            cls.run_.one_step([torch.from_numpy(array) for array in made], 1.0)
        cls.run_.save()
        cls.served = cls.cache / "served"
        cls.served.mkdir()
        cls.model, stored = load_average(cls.run_.path)
        write_weights(cls.model, stored, cls.served)

    def output(self, model):
        generator = torch.Generator().manual_seed(0)
        x = torch.rand(1, 8, PATCH, sum(BANDS), generator=generator)
        embedding = torch.randn(1, TEXT, generator=generator) / TEXT**0.5
        with torch.no_grad():
            return model(x, embedding, torch.zeros(1, 8, 2), 1)

    def test_training_changes_every_part_and_nothing_diverges(self):
        frozen = ("name_logits.", "closing_")
        for name, tensor in self.run_.model.state_dict().items():
            self.assertTrue(tensor.isfinite().all(), name)
            same = torch.equal(tensor, self.begun[name])
            self.assertEqual(same, name.startswith(frozen), name)

    def test_a_run_goes_on_from_its_checkpoint(self):
        again = Run(self.options)
        self.assertEqual(again.step, STEPS)
        for name, tensor in self.run_.model.state_dict().items():
            self.assertTrue(torch.equal(tensor, again.model.state_dict()[name]), name)

    def test_a_pause_is_not_counted_as_training(self):
        run = Run(self.options)
        run.seconds, run.started = 0, time.monotonic() - 20
        run.count_time()
        self.assertGreaterEqual(run.seconds, 20)
        run.seconds, run.started = 0, time.monotonic() - 3600
        run.count_time()
        self.assertEqual(run.seconds, PAUSE_SECONDS)

    def test_a_run_saves_when_it_is_stopped_and_goes_on_from_there(self):
        cache = self.cache / "elsewhere"  # without banks to test on
        cache.mkdir()
        for path in [*self.cache.glob("train-*"), self.cache / "text.npz"]:
            (cache / path.name).symlink_to(path)
        command = [sys.executable, "-m", "winnow_training.commands.train", cache, "stopped"]
        command += [*SIZES, "--decay-minutes", "9", "--workers", "2", "--threads", "1"]
        begun = 0
        for _ in range(2):
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
                lines = iter(run.stdout.readline, "")
                self.assertIn(f"from step {begun}", next(lines))
                self.assertIn("first step", next(lines))
                run.send_signal(signal.SIGTERM)
                self.assertIn("stopped at step", next(lines))
                self.assertEqual(run.wait(), 0)
            stored = torch.load(cache / "stopped-release.pt")
            self.assertGreater(stored["step"], begun)
            self.assertLess(stored["done"], 1)
            begun = stored["step"]

    def test_taps_are_the_convolution(self):
        for shape in ((2, 9, 16), (2, 9, 3, 16)):
            layer, x = TimeConv(16, 5), torch.randn(*shape)
            torch.testing.assert_close(layer.add_taps(x), layer(x))

    def test_a_gradient_that_is_not_finite_is_never_saved(self):
        run = Run(self.options)
        run.sums[-1] = torch.nan
        with self.assertRaises(FloatingPointError):
            run.save()

    def test_the_export_loads_to_the_same_network(self):
        served, stored = load_average(self.served)
        self.assertEqual(stored["step"], STEPS)
        for ours, theirs in zip(self.output(self.model), self.output(served), strict=True):
            self.assertTrue(torch.equal(ours, theirs))

    def test_the_export_is_in_half_precision_and_has_one_name_for_each_class(self):
        tensors = load_file(self.served / "model.safetensors")
        self.assertEqual({tensor.dtype for tensor in tensors.values()}, {torch.float16})
        config = json.loads((self.served / "config.json").read_text())
        self.assertEqual(len(config["names"]), len(NAMES))

    def test_golden_tensors_hold_every_part(self):
        kept = golden(self.model, torch.ones(1, TEXT) / TEXT**0.5)
        save(kept, self.cache / "golden.safetensors")
        read = load_file(self.cache / "golden.safetensors")
        self.assertIn("shared.0.x", read)
        self.assertIn("cond.0.z", read)
        self.assertEqual(read["target"].shape, read["waveform"].shape)

    def test_the_weights_that_are_served_load(self):
        model, _ = load_average(SERVED)
        self.assertTrue(all(tensor.isfinite().all() for tensor in self.output(model)))


if __name__ == "__main__":
    unittest.main()
