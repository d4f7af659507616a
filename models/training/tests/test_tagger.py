"""The tagger: its features, its network in pieces and folded, its labels, and its decisions."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from safetensors.torch import load_file

from winnow_training.commands import tagger_combine, tagger_export
from winnow_training.commands.prepare import synthesised_clips, write_banks
from winnow_training.data.synthesis import procedural
from winnow_training.model.network import PATCH, TEXT, WINDOW
from winnow_training.tagger import decisions, matches, training
from winnow_training.tagger.calibration import calibrate
from winnow_training.tagger.cases import Clips, logits_of, make_cases
from winnow_training.tagger.checkpoint import load_average, read_calibration, write_calibration
from winnow_training.tagger.clips import (
    calibration_owners,
    for_calibration,
    sources,
    write_variant,
)
from winnow_training.tagger.combined import (
    Questions,
    combined_states,
    fit_alone,
    fit_rule,
    reliability,
)
from winnow_training.tagger.decisions import (
    CombinedRule,
    Rules,
    answer,
    evidence,
    grouped,
    spans_of,
)
from winnow_training.tagger.export import config_of, folded, golden_tiny, tiny_model, unfolded
from winnow_training.tagger.features import (
    FLOOR,
    MELS,
    RATE,
    STEP_FRAMES,
    STEP_SAMPLES,
    log_mel,
    mel_matrix,
    mel_power,
)
from winnow_training.tagger.matches import SEEDS, Matches, cases_of, chunks_of
from winnow_training.tagger.network import CONTEXT_STEPS
from winnow_training.tagger.scenes import PLACE, REST_DB, label
from winnow_training.tagger.tables import class_table, tables
from winnow_training.tagger.training import Run

RULES = Rules(
    sharpness=1.0,
    length=1.0,
    discount=1.0,
    margin=1.0,
    found=0.0,
    absent=-3.0,
    begins=0.0,
    goes_on=-1.5,
    gap_steps=1,
)
ALONE = [[], [], []]


def tone(hertz: float, steps: int, peak: float = 1.0) -> torch.Tensor:
    time = torch.arange(steps * STEP_SAMPLES, dtype=torch.float64) / RATE
    return (peak * torch.sin(2 * torch.pi * hertz * time)).float()


class Features(unittest.TestCase):
    def test_a_step_is_32_frames_and_silence_is_the_floor(self):
        power = mel_power(torch.zeros(2, 3 * STEP_SAMPLES))
        self.assertEqual(power.shape, (2, 3 * STEP_FRAMES, MELS))
        torch.testing.assert_close(log_mel(power)[0, 0, 0], (torch.tensor(FLOOR).log() + 10) / 5)

    def test_every_band_hears_something_and_nothing_under_50_hertz(self):
        matrix = mel_matrix()
        self.assertTrue((matrix.sum(0) > 0.5).all())
        self.assertTrue((matrix[:2] == 0).all())

    def test_levels_are_absolute(self):
        loud, soft = (mel_power(tone(1000, 1, peak))[8:-8] for peak in (1.0, 0.1))
        torch.testing.assert_close(
            loud.max(-1).values / soft.max(-1).values, torch.full((16,), 100.0)
        )


class Network(unittest.TestCase):
    def setUp(self):
        self.model = tiny_model()

    def test_a_step_depends_on_the_context_and_on_nothing_else(self):
        steps, at = 20, 9
        x = torch.randn(1, steps * STEP_FRAMES, MELS, requires_grad=True)
        self.model(x)[0, at].sum().backward()
        touched = x.grad.abs().sum((0, 2)).view(steps, STEP_FRAMES).sum(1).nonzero().flatten()
        self.assertGreater(touched.min(), at - CONTEXT_STEPS)
        self.assertEqual(touched.max(), at + CONTEXT_STEPS)

    @torch.no_grad()
    def test_pieces_with_context_give_what_the_whole_file_does(self):
        x = torch.randn(1, 30 * STEP_FRAMES, MELS)
        whole = self.model(x)
        start, end = 10, 16
        piece = x[:, (start - CONTEXT_STEPS) * STEP_FRAMES : (end + CONTEXT_STEPS) * STEP_FRAMES]
        inner = self.model(piece)[:, CONTEXT_STEPS:-CONTEXT_STEPS]
        torch.testing.assert_close(inner, whole[:, start:end])

    @torch.no_grad()
    def test_folded_weights_are_the_same_network(self):
        golden = golden_tiny()
        again = unfolded(folded(self.model), tiny_model())
        torch.testing.assert_close(again(golden["log_mel"]), golden["logits"], atol=1e-5, rtol=0)


class Splits(unittest.TestCase):
    def test_an_owner_is_kept_for_calibration_in_all_classes_or_in_none(self):
        kits = [f"kit {number}" for number in range(9)]
        clips = {"kick": kits, "snare": kits, "lone": ["one"] * 9}
        owners = calibration_owners(clips)
        self.assertEqual(len(owners), 1)
        self.assertNotIn("one", owners)
        self.assertEqual(for_calibration(["a; b", "c"], {"b"}).tolist(), [True, False])


class Labels(unittest.TestCase):
    def powers(self, decibels: float) -> np.ndarray:
        return np.full((2 * STEP_FRAMES, MELS), 1e-3 * 10 ** (decibels / 10), np.float32)

    def test_a_sound_far_under_the_rest_is_not_said_to_be_there(self):
        loud, soft = self.powers(0), self.powers(REST_DB - 20)
        labels, _ = label(["dog", "piano"], [loud, soft], loud + soft)
        self.assertEqual(labels[0, PLACE["dog"]], 1)
        self.assertEqual(labels[0, PLACE["piano"]], 0)

    def test_between_there_and_not_there_nothing_is_said(self):
        loud, soft = self.powers(0), self.powers(REST_DB - 5)
        _, weights = label(["dog", "piano"], [loud, soft], loud + soft)
        self.assertEqual(weights[0, PLACE["piano"]], 0)

    def test_what_is_confusable_with_a_sound_hardly_counts_as_absent(self):
        rain = self.powers(0)
        _, weights = label(["rain"], [rain], rain)
        self.assertLess(weights[0, PLACE["noise"]], 0.5)
        self.assertEqual(weights[0, PLACE["piano"]], 1)


class Decisions(unittest.TestCase):
    def column(self, *values: float) -> np.ndarray:
        """[steps, 3] of which the first class has the values and the others are far from it."""
        return np.array([[value, -7.0, -7.0] for value in values])

    def test_a_longer_file_of_the_same_has_no_more_evidence(self):
        short, long = np.full((10, 1), -2.0), np.full((120, 1), -2.0)
        self.assertAlmostEqual(evidence(short, RULES)[0], evidence(long, RULES)[0])

    def test_one_step_counts_for_less_in_a_longer_file(self):
        short, long = np.full((10, 1), -7.0), np.full((120, 1), -7.0)
        short[4] = long[60] = 3.0
        self.assertGreater(evidence(short, RULES)[0], evidence(long, RULES)[0] + 2)

    def test_states(self):
        for value, state in ((2.0, "found"), (-1.0, "unsure"), (-5.0, "absent")):
            said = answer(self.column(*[value] * 10), 0, ALONE, RULES)
            self.assertEqual(said.state, state)

    def test_a_relative_that_is_surer_explains_a_sound(self):
        logits = np.full((10, 3), -7.0)
        logits[:, 0], logits[:, 1] = 0.5, 6.0
        said = answer(logits, 0, [[1], [0], []], RULES)
        self.assertEqual((said.state, said.similar_to, said.spans), ("similar", 1, []))
        self.assertEqual(answer(logits, 0, ALONE, RULES).state, "found")
        self.assertEqual(answer(logits, 1, [[1], [0], []], RULES).state, "found")

    def test_spans_bridge_a_gap_and_leave_out_what_never_is_sure(self):
        logits = np.array([-5, 1, -1, 1, -5, 1, -5, -5, -1, -5.0])
        self.assertEqual(spans_of(logits, RULES), [(1, 6)])

    def test_spans_are_in_seconds_and_share_is_of_the_file(self):
        said = answer(self.column(*[-7] * 5, *[6] * 5), 0, ALONE, RULES)
        self.assertEqual(said.spans[0][1], 5.0)
        self.assertEqual(said.share, 0.5)

    def test_a_group_is_as_probable_as_any_of_its_members(self):
        logits = np.array([[0.0, 0.0, -7.0]])
        either = grouped(logits, [[0, 1], [2]])
        self.assertAlmostEqual(1 / (1 + np.exp(-either[0, 0])), 0.75)
        self.assertAlmostEqual(either[0, 1], -7.0, places=5)

    def test_calibrated_logits_are_bounded(self):
        far = decisions.calibrated(np.array([[99.0, -99.0]]), np.ones(2), np.zeros(2))
        self.assertEqual(far.tolist(), [[decisions.LOGIT_MOST, -decisions.LOGIT_MOST]])


class Together(unittest.TestCase):
    """The tagger's evidence and mini's match."""

    RULE = CombinedRule(
        match_sharpness=1.0, tagger=1.0, match=2.0, offset=0.5, found=3.0, absent=-3.0
    )

    def test_a_longer_file_of_the_same_has_no_higher_score(self):
        short, long = (self.RULE.score(1.0, np.full(chunks, -2.0)) for chunks in (1, 8))
        self.assertAlmostEqual(short, 1.0 - 4.0 + 0.5)
        self.assertAlmostEqual(long, short)

    def test_the_match_is_bounded_as_steps_are(self):
        far = self.RULE.score(0.0, np.array([30.0]))
        self.assertEqual(far, 2 * decisions.LOGIT_MOST + 0.5)

    def test_states(self):
        said = [self.RULE.state(z, near) for z in (3.0, 0.0, -3.1) for near in (False, True)]
        self.assertEqual(said, ["found", "found", "unsure", "similar", "absent", "absent"])

    def asked(self, count: int) -> Questions:
        """Present sounds have more of both; related ones are less unlike them."""
        rng = np.random.default_rng(count)
        kind = np.repeat(["present", "unrelated", "related"], count)
        middle = np.repeat([2.0, -4.0, -2.0], count)
        chunks = [[float(logit)] for logit in middle + rng.normal(0, 1, len(middle))]
        return Questions(middle + rng.normal(0, 1, len(middle)), chunks, kind, kind == "related")

    def test_a_fitted_rule_keeps_its_shares_and_is_reliable_on_others(self):
        rule = fit_rule([self.asked(300), self.asked(200)])
        shares = combined_states(self.asked(300), rule)
        self.assertLess(shares["unrelated"]["found"], 0.06)
        self.assertLess(shares["related"]["found"], 0.3)
        self.assertLess(shares["present"]["absent"], 0.06)
        self.assertGreater(shares["present"]["found"], 0.9)
        rows, error = reliability([self.asked(300)], rule)
        self.assertEqual(sum(count for *_, count in rows), 900)
        self.assertLess(error, 0.05)

    def test_the_evidence_alone_is_a_probability_too(self):
        one = self.asked(300)
        rule = fit_alone(one.evidence, one.kind == "present", one.weights())
        said = 1 / (1 + np.exp(-rule.tagger * one.evidence - rule.offset))
        self.assertAlmostEqual(float(one.weights() @ said), 0.5, places=3)

    def test_chunks_are_those_of_the_engine(self):
        samples = np.arange(21 * RATE)
        starts = [int(chunk[0]) / RATE for chunk in chunks_of(samples)]
        self.assertEqual(starts, [0, 8, 11])
        self.assertEqual([len(chunk) for chunk in chunks_of(samples[: 3 * RATE])], [3 * RATE])


class KnownBy:
    """A network that lets half of everything through, and is as sure as the prompt's first number
    says; it does without training."""

    window = torch.hann_window(WINDOW)

    def __call__(self, x, embedding, spans, queries):
        tokens = x.shape[1]
        logits = torch.zeros(len(x) * queries, tokens * PATCH, WINDOW // 2 + 1)
        return logits, embedding[:, :1].expand(-1, tokens)


class WholeWay(unittest.TestCase):
    """From banks to files that the service loads, in small."""

    @classmethod
    @mock.patch.object(training, "CHECK_SCENES", 4)
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = Path(folder.name)
        sounds = {name: procedural.SOUNDS[name] for name in ("airplane", "alarm", "siren")}
        write_banks(cls.cache, [lambda: synthesised_clips(sounds, {"train": 8, "test": 1})])
        for source in sources(cls.cache, "train"):
            for variant in range(2):
                write_variant(cls.cache, source, variant)
        run = Run(cls.cache, "small", minutes=1, batch=2)
        cls.losses = [run.one_step() for _ in range(2)]
        run.check()
        run.save()

    @mock.patch.object(training, "CHECK_SCENES", 4)
    def test_a_run_goes_on_from_its_checkpoint(self):
        self.assertTrue(np.isfinite(self.losses).all())
        again = Run(self.cache, "small", minutes=1, batch=2)
        self.assertEqual(again.step, 2)
        again.one_step()

    def test_an_export_is_the_network_that_was_calibrated(self):
        model, _ = load_average(self.cache, "small")
        clips = Clips(self.cache, "calibration", or_made=True)
        cases = {seconds: make_cases(clips, 3, seconds, 1) for seconds in (5, 12)}
        logits = {seconds: logits_of(model, part) for seconds, part in cases.items()}
        calibration = calibrate(cases, logits)
        write_calibration(self.cache, "small", calibration)
        self.assertEqual(read_calibration(self.cache, "small"), calibration)
        self.assertIn("| class, present | 5 s |", tables(calibration, cases, logits))
        self.assertIn("| airplane |", class_table(calibration, cases, logits))
        with self.assertRaisesRegex(ValueError, "run tagger-combine"):
            config_of(model, {}, calibration)
        self.combine()
        weights, golden = self.cache / "weights", self.cache / "golden"
        with mock.patch(
            "sys.argv",
            ["tagger-export", *map(str, (self.cache, "small")), str(weights), str(golden)],
        ):
            tagger_export.main()
        served = load_file(weights / "tagger.safetensors")
        lane = load_file(golden / "lane.safetensors")
        again = unfolded(served, load_average(self.cache, "small")[0])
        with torch.no_grad():
            heard = again(log_mel(mel_power(lane["wave"].float())))
        torch.testing.assert_close(heard, lane["logits"])
        config = json.loads((weights / "config.json").read_text())
        self.assertEqual(len(config["calibration"]["scales"]), heard.shape[-1])
        for key in ("combined", "alone", "listed"):
            self.assertEqual(config[key].keys() - {"group"}, config[key]["group"].keys())

    @mock.patch.object(matches, "FILES", {5: 3, 12: 2})
    @mock.patch.object(matches, "OR_MADE", ("calibration", "test"))
    def combine(self):
        """By a network that knows whatever it is asked for, about as well."""
        found = Matches(self.cache)
        cases = {split: cases_of(self.cache, split) for split in SEEDS}

        def embed(texts: list[str]) -> np.ndarray:
            return np.linspace(-1, 1, len(texts) * TEXT, dtype=np.float32).reshape(-1, TEXT)

        found.add(KnownBy(), embed, cases)
        rows = Matches(self.cache).rows
        self.assertEqual(rows, found.rows)
        self.assertEqual({len(row.logits) for row in rows}, {1, 2})
        found.add(None, embed, cases)  # has nothing left to ask
        with mock.patch("sys.argv", ["tagger-combine", str(self.cache), "small"]):
            tagger_combine.main()
        self.assertIsNotNone(read_calibration(self.cache, "small").group_combined)


if __name__ == "__main__":
    unittest.main()
