"""Real recordings: voices, instruments and everyday sounds, with an ATTRIBUTION.csv.

A folder of classes: `CLASS/*` are recordings as they are, `CLASS/notes/*` single notes and hits,
of which phrases.py makes phrases. ATTRIBUTION.csv has a row for each file: file, class, kind
("clip" or "note"), source, commit, original_path, author, licence, speaker, pitch and f0_hz.

Sounds are held out whole: all that a speaker says, that is played on one instrument or that was cut
from one recording. If nothing tells one from another, all is one.
"""

import csv
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from winnow_training.data.audio import RATE, Clip, read_mono
from winnow_training.data.phrasings import OTHER, load_phrasings
from winnow_training.data.sources.esc10 import CLASSES as ESC10_CLASSES
from winnow_training.data.sources.instruments import SECONDS
from winnow_training.data.sources.phrases import Instrument, Sample, grooves, phrases, pitch_of

VOICES = {"woman", "man", "child"}
HELD_OUT = {True: 6, False: 3}
"""One of so many speakers (True) or instruments and recordings (False) is held out."""
NOTES_MIN = 3
"""An instrument with fewer notes of a class is too little to be tested on."""
PHRASES = {"train": 60, "test": 24}
"""Per class, shared out among its instruments …"""
PHRASES_MIN = {"train": 12, "test": 8}
"""… but at least so many of each."""
SHORT_SECONDS, PAUSE_SECONDS = 3.0, (0.1, 0.6)
"""Shorter utterances are joined with others of their speaker, with pauses between them."""
COVERS = {
    "alarm": "beep",
    "appliance": "blender clothesdryer coffeemachine compressor hairdryer shaver shredder "
    "waterpump",
    "ball": "pingpong",
    "bee": "fly mosquito",
    "bell": "bicyclebell singingbowl tubularbells windchimes",
    "bird": "crow duck goose gull owl parrot woodpecker",
    "breathing": "snoring",
    "bubbles": "boiling gargling",
    "cat": "purr",
    "clap": "fingersnap",
    "click": "camera",
    "crickets": "cicada",
    "crowd": "cheering",
    "cymbal": "gong",
    "dishes": "clink",
    "engine": "truck",
    "explosion": "fireworks",
    "footsteps": "stomp",
    "hen": "turkey",
    "keys": "chain",
    "livestock": "cow goat pig sheep",
    "mallets": "kalimba",
    "paper": "foil",
    "scream": "shouting",
    "sneeze": "cough",
    "stream": "flush pouring shower",
    "synth": "theremin",
    "tape": "velcro zipper",
}
"""Classes of a folder that are too small for a name of their own, by the name that covers them."""
JOINED = {name: cover for cover, names in COVERS.items() for name in names.split()}
OTHERS = set(
    "bicycle canopening digging knife leaves match printer scissors sharpener umbrella".split()
)
"""Classes that serve as OTHER. Further unknown ones are left out: an elephant as OTHER would teach
that it is no animal."""
UNCHECKED = {"rafaelmardojai/blanket", "librosa/librosa", "sonic-pi-net/sonic-pi"}
"""Sources whose sounds of ESC-10's classes may be ESC-10's own recordings: these are left out."""

PLAYED_ON = {
    "Tonejs/audio": r"(salamander)|berklee/(?:\w*(analogsynth|tritones|glass)|([a-z]+))",
    "sonic-pi-net/sonic-pi": r"samples/([a-z]+)_",
    "kmturley/karoryfer.black-and-green-guitars": r"Samples/(\w+)/",
    "sfzinstruments/GregSullivan.E-Pianos": r"^([\w ]+)/",
    "sfzinstruments/MTG.SoloSax": r"/(\w{3})_",
    "sfzinstruments/Discord-SFZ-GM-Bank": r"Melodic/\d+-(?:Pizzicato |Tremolo )?([\w ]+)",
    "sfzinstruments/karoryfer.gogodze-phu-vol-i": r"Samples/(\w+)/",
    "freepats/world-percussion": r"samples/(?:Muted)?(?:High|Low)?(\w+)/",
    "hainguyents13/mechvibes": r"audio/([\w-]+)",
    "Fris0uman/CDDA-Soundpacks": r"/(\w*?)_?\d*\.ogg$",
}
"""The part of the original path that tells the instrument, for sources with several. Other sources
are one instrument, with which all of its notes were played."""


@dataclass(frozen=True)
class Recording:
    """A row of ATTRIBUTION.csv. `owner` is the speaker, the instrument or the recording."""

    path: Path
    name: str
    is_note: bool
    owner: str
    is_known: bool
    """True if the speaker is: who is not may be any other."""
    origin: str
    licence: str
    author: str
    pitch: float | None
    """In semitones, 69 at 440 Hz."""


def clips(folder: Path) -> dict[str, dict[str, list[Clip]]]:
    """Class to split to clips: utterances, recordings as they are, and phrases."""
    recordings = read_recordings(folder)
    held_out = choose_held_out(recordings)
    made = {}
    for name in sorted({recording.name for recording in recordings}):
        made[name] = {"train": [], "test": []}
        owners = {"train": {}, "test": {}}
        for recording in (recording for recording in recordings if recording.name == name):
            split = "test" if recording.owner in held_out else "train"
            owners[split].setdefault(recording.owner, []).append(recording)
        for split, by_owner in owners.items():
            count = max(PHRASES_MIN[split], PHRASES[split] // max(1, len(by_owner)))
            for _, part in sorted(by_owner.items()):
                made[name][split] += owner_clips(part, split, count)
    made["kit"] = kit_clips(recordings, held_out)
    return {name: splits for name, splits in made.items() if any(splits.values())}


def read_recordings(folder: Path) -> list[Recording]:
    """The rows of ATTRIBUTION.csv whose class the network has a name for: not "speech" by voices
    whose sex is not known, nor what may be among what ESC-10 tests."""
    with open(folder / "ATTRIBUTION.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["class"] = OTHER if row["class"] in OTHERS else JOINED.get(row["class"], row["class"])
    classes, esc10 = {*load_phrasings()["classes"], OTHER}, set(ESC10_CLASSES.values())
    return [
        recording(folder, row)
        for row in rows
        if row["class"] in classes and not (row["source"] in UNCHECKED and row["class"] in esc10)
    ]


def recording(folder: Path, row: dict[str, str]) -> Recording:
    pitch = pitch_of(row["pitch"], row["f0_hz"]) if row["kind"] == "note" else None
    is_known = row["class"] not in VOICES or bool(row["speaker"])
    owner = owner_of(row)
    detail = owner.removeprefix(row["source"]).removeprefix(": ")
    origin = " ".join([row["source"], row["commit"], *([f"({detail})"] if detail else [])])
    return Recording(
        folder / row["file"],
        row["class"],
        row["kind"] == "note",
        owner,
        is_known,
        origin,
        row["licence"],
        row["author"],
        pitch,
    )


def owner_of(row: dict[str, str]) -> str:
    """The owner by name, which must not be split between training and test."""
    source, path = row["source"], row["original_path"]
    if row["speaker"]:
        return row["speaker"]
    if row["class"] in VOICES:
        return source
    match = re.search(PLAYED_ON[source], path, re.I) if source in PLAYED_ON else None
    if match:
        return f"{source}: {next(part for part in match.groups() if part).lower().strip()}"
    if row["kind"] == "note":
        return source
    return f"{source}: {re.sub(r'[-_ 0-9]+$', '', Path(path).stem)}"


def choose_held_out(recordings: list[Recording]) -> set[str]:
    """Owners, in an order that their names decide, as long as each of their classes keeps enough:
    half of its files or more, and most of its owners. An instrument of several classes, such as a
    drum kit, comes first and is held out of all of them."""
    counts = {}
    for recording in recordings:
        by_owner = counts.setdefault(recording.name, {})
        by_owner[recording.owner] = by_owner.get(recording.owner, 0) + 1
    unknown = {recording.owner for recording in recordings if not recording.is_known}
    notes = {(recording.owner, recording.name) for recording in recordings if recording.is_note}
    classes = {}
    for name, by_owner in counts.items():
        for owner in by_owner.keys() - unknown:
            classes.setdefault(owner, []).append(name)

    def may_be(owner, name):
        count = counts[name][owner]
        is_enough = count >= NOTES_MIN or (owner, name) not in notes
        return is_enough and 2 * count <= sum(counts[name].values())

    chosen, taken = set(), dict.fromkeys(counts, 0)
    for owner, names in sorted(classes.items(), key=lambda item: (-len(item[1]), order(item[0]))):
        if all(may_be(owner, name) and taken[name] < places(counts[name], name) for name in names):
            chosen.add(owner)
            for name in names:
                taken[name] += 1
    return chosen


def order(owner: str) -> bytes:
    return blake2b(owner.encode(), digest_size=8).digest()


def places(by_owner: dict[str, int], name: str) -> int:
    """How many of a class's owners are held out: one of the few, none of a single one."""
    return min(len(by_owner) - 1, max(1, len(by_owner) // HELD_OUT[name in VOICES]))


def owner_clips(recordings: list[Recording], split: str, count: int) -> list[Clip]:
    """All of one owner in one class: recordings as they are, and `count` phrases of notes."""
    whole = [recording for recording in recordings if not recording.is_note]
    notes = [recording for recording in recordings if recording.is_note]
    rng = np.random.default_rng([*f"{split} {recordings[0].name} {recordings[0].owner}".encode()])
    sounds = [read_mono(recording.path) for recording in whole]
    if whole and whole[0].name in VOICES and whole[0].is_known:
        sounds = utterances(sounds, rng)
    made = [credited(sound, whole) for sound in sounds]
    if notes:
        instrument = Instrument(notes[0].name, [sample(recording) for recording in notes])
        made += [credited(sound, notes) for sound in phrases(instrument, rng, count)]
    return made


def sample(recording: Recording) -> Sample:
    return Sample(read_mono(recording.path), recording.pitch, recording.path)


def kit_clips(recordings: list[Recording], held_out: set[str]) -> dict[str, list[Clip]]:
    """Split to grooves on each owner's kick, snare and hi-hats, and what else its kit has."""
    kits = {}
    for recording in recordings:
        if recording.is_note:
            kits.setdefault(recording.owner, {}).setdefault(recording.name, []).append(recording)
    kits = {
        owner: drums for owner, drums in kits.items() if {"kick", "snare", "hihat"} <= drums.keys()
    }
    made = {"train": [], "test": []}
    for owner, drums in sorted(kits.items()):
        split = "test" if owner in held_out else "train"
        rng = np.random.default_rng([*f"{split} kit {owner}".encode()])
        samples = {
            name: Instrument(name, [sample(recording) for recording in part])
            for name, part in drums.items()
        }
        credit = [recording for part in drums.values() for recording in part]
        made[split] += [credited(sound, credit) for sound in grooves(samples, rng, PHRASES[split])]
    return made


def credited(sound: np.ndarray, recordings: list[Recording]) -> Clip:
    """`sound` with all who have a part in it."""
    origin, licence, author = (
        "; ".join(sorted({getattr(recording, part) for recording in recordings}))
        for part in ("origin", "licence", "author")
    )
    return Clip(sound, origin, licence, author)


def utterances(sounds: list[np.ndarray], rng) -> list[np.ndarray]:
    """One speaker's recordings, each of SHORT_SECONDS or more where there is enough."""
    made, held = [], []
    for sound in sounds:
        held += [sound, np.zeros(round(rng.uniform(*PAUSE_SECONDS) * RATE), np.float32)]
        if sum(map(len, held)) >= SHORT_SECONDS * RATE:
            made.append(np.concatenate(held[:-1])[: 2 * SECONDS * RATE])
            held = []
    return made if made else [np.concatenate(held[:-1])]
