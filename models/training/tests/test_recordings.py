"""How real recordings are split and named: `python -m unittest discover -s tests -t .`"""

import csv
import tempfile
import unittest
from pathlib import Path

import numpy as np
import soundfile

from winnow_training.data.audio import RATE
from winnow_training.data.phrasings import OTHER
from winnow_training.data.sources import recordings
from winnow_training.data.sources.phrases import Instrument, Note, Sample, phrase, pitch_of

FIELDS = ("file,class,kind,source,commit,original_path,author,licence,speaker,pitch,f0_hz").split(
    ","
)


def row(name, kind="clip", source="maker/set", path="a.wav", speaker="", number=0, **more):
    folder = f"{name}/notes" if kind == "note" else name
    values = dict(
        zip(
            FIELDS,
            (
                f"{folder}/{source.replace('/', '-')}{speaker}{number}.wav",
                name,
                kind,
                source,
                "abc",
                path,
                "someone",
                "CC0",
                speaker,
                "",
                "",
            ),
        )
    )
    return values | more


def write_folder(folder: Path, rows):
    """Each row's file, half a second of a tone of its own, and ATTRIBUTION.csv."""
    with (folder / "ATTRIBUTION.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        table.writeheader()
        table.writerows(rows)
    for number, one in enumerate(rows):
        path = folder / one["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        tone = np.sin(2 * np.pi * (200 + number) * np.arange(RATE // 2) / RATE)
        soundfile.write(path, 0.5 * tone, RATE)


class Owners(unittest.TestCase):
    def test_files_that_differ_by_a_number_are_one_recording(self):
        owners = {
            recordings.owner_of(row("doorbell", path=path))
            for path in ("x/doorbell1.mp3", "x/doorbell2.mp3", "x/doorbell.mp3")
        }
        self.assertEqual(len(owners), 1)

    def test_one_collection_may_hold_several_instruments(self):
        source = "kmturley/karoryfer.black-and-green-guitars"
        owners = {
            recordings.owner_of(row("eguitar", "note", source, f"Samples/{which}/ord/a3.wav"))
            for which in ("black", "green")
        }
        self.assertEqual(len(owners), 2)

    def test_articulations_are_one_instrument(self):
        owners = {
            recordings.owner_of(row("cello", "note", path=f"Samples/{way}/A1.wav"))
            for way in ("sus", "pizzcato", "staccato")
        }
        self.assertEqual(len(owners), 1)


class Splits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, rows):
        write_folder(self.folder, rows)
        return recordings.read_recordings(self.folder)

    def test_no_owner_is_on_both_sides(self):
        read = self.read(
            [row("woman", speaker=f"s{number % 7}", number=number) for number in range(21)]
        )
        held_out = recordings.choose_held_out(read)
        made = recordings.clips(self.folder)["woman"]
        origins = {split: {clip.origin for clip in made[split]} for split in made}
        self.assertEqual(len(held_out), 1)
        self.assertEqual(len(origins["test"]), 1)
        self.assertFalse(origins["train"] & origins["test"])

    def test_unknown_speakers_are_never_held_out(self):
        read = self.read(
            [row("man", source=f"set/{number}", number=number) for number in range(12)]
        )
        self.assertEqual(recordings.choose_held_out(read), set())

    def test_the_only_instrument_of_a_class_is_trained_on(self):
        read = self.read([row("flute", "note", number=number) for number in range(9)])
        self.assertEqual(recordings.choose_held_out(read), set())

    def test_a_kit_is_held_out_of_all_of_its_classes(self):
        read = self.read(
            [
                row(name, "note", f"kits/{kit}", number=number)
                for name in ("kick", "snare", "hihat")
                for kit in "abc"
                for number in range(4)
            ]
        )
        held_out = recordings.choose_held_out(read)
        self.assertEqual(len(held_out), 1)
        made = recordings.clips(self.folder)
        for name in ("kick", "snare", "hihat", "kit"):
            self.assertTrue(made[name]["test"])
            self.assertTrue(
                all(owner in clip.origin for clip in made[name]["test"] for owner in held_out)
            )

    def test_small_classes_join_others_or_are_company_without_a_name(self):
        names = ("cow", "cat", "purr", "scissors", "elephant", "speech")
        read = self.read([row(name, number=number) for number, name in enumerate(names)])
        self.assertEqual([one.name for one in read], ["livestock", "cat", "cat", OTHER])

    def test_what_may_be_esc10s_own_is_left_out(self):
        read = self.read(
            [
                row("rain", source="rafaelmardojai/blanket"),
                row("rain", number=1),
                row("bird", source="rafaelmardojai/blanket", number=2),
            ]
        )
        self.assertEqual([one.name for one in read], ["rain", "bird"])
        self.assertEqual(read[0].origin, "maker/set abc (a)")


class Phrases(unittest.TestCase):
    def test_a_name_gives_the_pitch_class_and_the_measurement_the_octave(self):
        self.assertEqual(pitch_of("A4", "111"), 45)
        self.assertEqual(pitch_of("Bb2", ""), 46)
        self.assertEqual(pitch_of("", "440"), 69)
        self.assertIsNone(pitch_of("", ""))

    def test_a_note_is_played_by_a_near_sample_or_by_none(self):
        tone = np.full(RATE, 0.1, np.float32)
        own = Instrument(
            "flute", [Sample(tone, pitch, Path("a.wav")) for pitch in (60.0, 62.0, 64.0, 79.0)]
        )
        rng, way = np.random.default_rng(0), np.ones(4, bool)
        self.assertEqual(own.find(Note(0, 1, 80, 90), way, rng), 3)
        self.assertIsNone(own.find(Note(0, 1, 71, 90), way, rng))
        octave_up = own.sound(3, 82.0)
        self.assertAlmostEqual(len(octave_up) / RATE, 2 ** (-3 / 12), places=2)

    def test_the_same_seed_plays_the_same_phrase(self):
        tone = np.sin(np.arange(RATE) / 30).astype(np.float32)
        samples = [Sample(tone, pitch, Path("a.wav")) for pitch in range(60, 72)]
        one, two, other = (
            phrase(Instrument("flute", samples), np.random.default_rng(seed)) for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(one, two)
        self.assertFalse(np.array_equal(one, other))


if __name__ == "__main__":
    unittest.main()
