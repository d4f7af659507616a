"""Instruments: random pieces for General MIDI programs, played by fluidsynth from two sound fonts.

FluidR3 (Frank Wen) and MuseScore General are both under the MIT licence. MuseScore General took
many samples over from FluidR3, so a program that is held out is held out in both. A class is tested
on programs of its own where it has some, and on other pieces by those that were trained on.
Training pieces are often played by a variant of the program: another make of the same instrument.
"""

import random
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import pi, sin
from pathlib import Path

import mido

from winnow_training.data.audio import RATE, Clip, read_mono, shared

FONTS = ["/usr/share/sounds/sf2/FluidR3_GM.sf2", "/usr/share/sounds/sf3/MuseScore_General.sf3"]
LOAD_AS_NEEDED = ["-o", "synth.dynamic-sample-loading=1"]
"""Loads only the programs that are played; all of a sound font takes ten seconds to unpack."""

SECONDS = 8
TICKS_PER_SECOND = 960
COUNTS = {"train": 48, "test": 12}
MELODIC_COUNTS = {"train": 448, "test": 12}
PIECES_A_RUN = 56
"""fluidsynth has one room and one chorus for all of a run."""
DRUM_CHANNEL = 9


@dataclass
class Part:
    """A class's playing: General MIDI programs from 0, notes from `low` to `high`."""

    train: list[int]
    test: list[int]
    low: int
    high: int
    chords: float = 0.0
    """How often it plays chords."""


MELODIC = {
    "piano": Part([0, 1, 3, 4, 5], [0, 2], 33, 98, 0.5),
    "harpsichord": Part([6], [6], 36, 88, 0.4),
    "mallets": Part([9, 10, 11, 12, 13], [12, 8, 14], 55, 96, 0.2),
    "organ": Part([16, 17, 19, 20], [18, 19], 38, 86, 0.6),
    "accordion": Part([21, 22], [23, 21], 50, 86, 0.4),
    "aguitar": Part([24, 25], [24, 25], 40, 79, 0.6),
    "eguitar": Part([26, 27, 28, 29, 30], [29, 30], 40, 79, 0.4),
    "bass": Part([32, 33, 34, 36, 37], [33, 35], 28, 52),
    "violin": Part([40, 110], [40, 41], 55, 96, 0.1),
    "cello": Part([42], [42], 36, 69, 0.1),
    "strings": Part([44, 45, 48, 50, 51], [49, 48], 40, 88, 0.6),
    "harp": Part([46], [46], 36, 90, 0.5),
    "trumpet": Part([56], [56, 59], 55, 84, 0.05),
    "trombone": Part([57], [57, 58], 36, 70, 0.05),
    "horn": Part([60], [60], 41, 77, 0.2),
    "sax": Part([64, 65, 67], [65, 66], 46, 80, 0.05),
    "clarinet": Part([71], [71], 50, 88),
    "oboe": Part([68, 70], [68, 69], 46, 88),
    "flute": Part([72, 73, 75, 77, 79], [73, 74], 60, 96),
    "bagpipe": Part([109], [109], 55, 79, 0.4),
    "banjo": Part([105], [105], 48, 79, 0.4),
    "sitar": Part([104], [104], 45, 76, 0.2),
    "steelpan": Part([114], [114], 52, 88, 0.2),
    "synth": Part(
        [62, 80, 81, 83, 84, 85, 86, 88, 89, 90, 92, 93, 94, 95], [82, 87, 91, 63], 40, 88, 0.3
    ),
    "timpani": Part([47], [47], 36, 57),
    "singing": Part([52, 53], [52, 54], 48, 79, 0.5),
}
EFFECTS = {
    "bird": (Part([123], [123], 50, 86), (0.2, 1.5), 0.5),
    "phone": (Part([124], [124], 52, 76), (1.0, 2.5), 0.5),
    "applause": (Part([126], [126], 48, 72), (3.0, 7.0), 0.5),
    "gunshot": (Part([127], [127], 50, 76), (0.3, 1.2), 1.0),
    "whistle": (Part([78], [78], 65, 90), (0.2, 1.2), 0.2),
    "other": (
        Part(
            [96, 97, 98, 99, 100, 101, 102, 103, 112, 115, 118, 119, 120, 121],
            [96, 99, 103, 112, 119],
            40,
            84,
        ),
        (0.3, 3.0),
        0.5,
    ),
}
"""Sounds of a program with the range of their lengths and the longest pause, in seconds. "other"
is no class: it is there as company that no prompt names."""

DRUMS = {
    "kick": [35, 36],
    "snare": [37, 38, 40],
    "hihat": [42, 44, 46],
    "cymbal": [49, 51, 52, 55, 57, 59],
    "toms": [41, 43, 45, 47, 48, 50],
    "congas": [60, 61, 62, 63, 64],
    "tambourine": [54, 69, 70, 82],
}
COARSE_TUNE, LARGER = 51, 7
GENERATORS = {
    8: (-1500, 0),
    9: (0, 60),
    34: (-600, 1200),
    36: (-600, 600),
    38: (-600, 600),
    52: (-30, 30),
}
"""Further ranges of a variant, as NRPN data: the filter's corner (in units of two cents) and
resonance (0.1 dB), times of attack, decay and release (two timecents), and tune.
"""
KITS = {"train": [0, 8, 16, 25, 32], "test": [0, 24, 40]}
SCALES = [[0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10], [0, 3, 5, 7, 10], [0, 2, 4, 7, 9]]


def clips(share: float = 1.0) -> dict[str, dict[str, list[Clip]]]:
    """Class to split to clips: to train on `share` of them, to be tested on all."""
    names = [*MELODIC, *EFFECTS, *DRUMS, "kit"]
    jobs = [(name, split) for name in names for split in COUNTS]
    with ThreadPoolExecutor(2) as pool:
        rendered = list(pool.map(lambda job: _render_class(*job, share), jobs))
    made = {}
    for (name, split), result in zip(jobs, rendered):
        made.setdefault(name, {})[split] = result
    return made


def _render_class(name: str, split: str, share: float) -> list[Clip]:
    """Half of the clips by each sound font."""
    made = []
    counts = shared(MELODIC_COUNTS if name in MELODIC else COUNTS, share)
    count = -(-counts[split] // len(FONTS))
    for font in FONTS:
        rng = random.Random(f"{name} {split} {font}")
        for start in range(0, count, PIECES_A_RUN):
            pieces = [_piece(name, split, rng) for _ in range(min(PIECES_A_RUN, count - start))]
            made += _play(pieces, font, name, rng)
    return made


@dataclass
class Note:
    start: float
    end: float
    pitch: int
    velocity: int


@dataclass
class Piece:
    program: int
    channel: int
    notes: list[Note]
    vibrato: float = 0.0
    """Depth of the pitch's swing, in cents."""
    variant: dict[int, int] = field(default_factory=dict)
    """Generators of the sound font by number, and what is added to them, as NRPN data. A piece's
    settings stay for the next, so among variants a plain piece sets all to 0."""


def _piece(name: str, split: str, rng: random.Random) -> Piece:
    if name in MELODIC:
        part = MELODIC[name]
        swing = rng.choice([0, 0, 0, rng.uniform(5, 40)])
        piece = Piece(rng.choice(getattr(part, split)), 0, melody(part, rng), swing)
        return varied(piece, rng) if split == "train" else piece
    if name in EFFECTS:
        part, lengths, pause = EFFECTS[name]
        notes = _events(part, lengths, pause, rng)
        return Piece(rng.choice(getattr(part, split)), 0, notes)
    kit = rng.choice(KITS[split])
    return Piece(kit, DRUM_CHANNEL, groove(rng) if name == "kit" else beats(DRUMS[name], rng))


def varied(piece: Piece, rng: random.Random) -> Piece:
    """The piece by another make of its instrument, half of the time: duller, with other envelopes,
    a little out of tune, and with the body of one up to a fifth larger or smaller, as its notes are
    made of the samples of lower or higher ones (SoundFont 2.04: generators 8.1.2, their NRPN 9.6).
    """
    if rng.random() < 0.5:
        return replace(piece, variant=dict.fromkeys([COARSE_TUNE, *GENERATORS], 0))
    steps = rng.randint(-LARGER, LARGER)
    notes = [replace(note, pitch=note.pitch + steps) for note in piece.notes]
    changes = {number: rng.randint(*reach) for number, reach in GENERATORS.items()}
    return replace(piece, notes=notes, variant={COARSE_TUNE: -steps, **changes})


def melody(part: Part, rng: random.Random) -> list[Note]:
    """A walk through a scale within an octave and a half, alone or with a third and a fifth."""
    key, scale = rng.randrange(12), rng.choice(SCALES)
    low = rng.randint(part.low, max(part.low, part.high - 18))
    pitches = [p for p in range(low, min(part.high, low + 24) + 1) if (p - key) % 12 in scale]
    beat = 60 / rng.uniform(60, 165)
    legato, velocity = rng.choice([0.4, 0.9, 1.0, 1.05]), rng.randint(50, 118)
    has_chords = rng.random() < part.chords
    index, time, notes = rng.randrange(len(pitches)), 0.02, []
    while time < SECONDS - 0.6:
        length = beat * rng.choice([0.25, 0.5, 0.5, 0.5, 1, 1, 2])
        if rng.random() > 0.12:
            step = rng.choice([-5, -3, -2, -1, -1, 0, 1, 1, 2, 3, 5])
            index = max(0, min(len(pitches) - 1, index + step))
            chord = [0, 2, 4] if has_chords or rng.random() < part.chords * 0.3 else [0]
            strum = rng.choice([0, 0, 0.015])
            for order, offset in enumerate(i for i in chord if index + i < len(pitches)):
                loud = max(20, min(127, velocity + rng.randint(-15, 12)))
                start = time + order * strum
                notes.append(
                    Note(start, time + max(0.06, length * legato), pitches[index + offset], loud)
                )
        time += length
    return notes


def _events(part: Part, lengths, pause: float, rng: random.Random) -> list[Note]:
    time, notes = 0.02 + rng.random() * pause, []
    while time < SECONDS - 0.6:
        length = min(rng.uniform(*lengths), SECONDS - 0.6 - time)
        notes.append(
            Note(time, time + length, rng.randint(part.low, part.high), rng.randint(70, 127))
        )
        time += length + rng.random() * pause
    return notes


def beats(pitches: list[int], rng: random.Random) -> list[Note]:
    """One drum of a kit: a pattern of sixteenths, repeated with small changes."""
    beat = 60 / rng.uniform(70, 170)
    chance = rng.uniform(0.15, 0.8)
    pattern = [rng.random() < chance for _ in range(16)]
    pattern[rng.randrange(16)] = True
    time, index, notes = 0.02, 0, []
    while time < SECONDS - 0.6:
        if pattern[index % 16] != (rng.random() < 0.05):
            notes.append(Note(time, time + 0.1, rng.choice(pitches), rng.randint(60, 120)))
        time, index = time + beat / 4, index + 1
    return notes


def groove(rng: random.Random) -> list[Note]:
    """A whole kit: kick and snare against hi-hat or ride, now and then a crash or a tom."""
    beat = 60 / rng.uniform(70, 170)
    kicks = [index % 8 == 0 or (index % 2 == 0 and rng.random() < 0.35) for index in range(16)]
    snares = [index in (4, 12) or rng.random() < 0.07 for index in range(16)]
    every, hat = rng.choice([1, 2, 2, 4]), rng.choice([42, 42, 46, 51])
    fills = DRUMS["toms"] + DRUMS["cymbal"]
    time, index, notes = 0.02, 0, []
    while time < SECONDS - 0.6:
        step = index % 16
        hits = [
            (kicks[step], 36, 105),
            (snares[step], rng.choice([38, 40]), 98),
            (step % every == 0, hat, 75),
            (rng.random() < 0.06, rng.choice(fills), 90),
        ]
        for hit, pitch, loud in hits:
            if hit:
                velocity = min(127, int(loud * rng.uniform(0.75, 1.2)))
                notes.append(Note(time, time + 0.1, pitch, velocity))
        time, index = time + beat / 4, index + 1
    return notes


def _play(pieces: list[Piece], font: str, name: str, rng: random.Random) -> list[Clip]:
    """One MIDI file with a piece every SECONDS, rendered at once and cut up again."""
    with tempfile.TemporaryDirectory() as folder:
        midi, wave = Path(folder) / "pieces.mid", Path(folder) / "pieces.wav"
        _write_midi(pieces, midi)
        effects = ["-R", rng.choice("01"), "-C", rng.choice("01")]
        command = ["fluidsynth", "-ni", *effects, *LOAD_AS_NEEDED, "-g", "0.4", "-r", str(RATE)]
        subprocess.run(
            [*command, "-F", str(wave), font, str(midi)], check=True, capture_output=True
        )
        samples = read_mono(wave)
    length = SECONDS * RATE
    made = []
    for number, piece in enumerate(pieces):
        cut = samples[number * length : (number + 1) * length]
        if abs(cut).max() > 1e-3:  # a drum kit need not have every drum
            origin = f"{Path(font).stem}, General MIDI {name}, program {piece.program + 1}"
            made.append(Clip(cut, origin, "MIT", "Frank Wen and others"))
    return made


def _write_midi(pieces: list[Piece], path: Path):
    events = []
    for number, piece in enumerate(pieces):
        begin, channel = number * SECONDS, piece.channel
        message = mido.Message
        events.append((begin, 0, message("program_change", channel=channel, program=piece.program)))
        for number, amount in piece.variant.items():
            data = 8192 + amount
            for control, value in ((99, 120), (98, number), (38, data & 127), (6, data >> 7)):
                events.append(
                    (
                        begin,
                        0,
                        message("control_change", channel=channel, control=control, value=value),
                    )
                )
        for note in piece.notes:
            on = message("note_on", channel=channel, note=note.pitch, velocity=note.velocity)
            off = message("note_off", channel=channel, note=note.pitch)
            end = min(note.end, SECONDS - 0.4)
            events += [(begin + note.start, 2, on), (begin + max(end, note.start + 0.05), 1, off)]
        events += _vibrato(piece, begin)
    events.sort(key=lambda event: event[:2])
    file = mido.MidiFile(ticks_per_beat=TICKS_PER_SECOND // 2)
    track = mido.MidiTrack()
    file.tracks.append(track)
    track.append(mido.MetaMessage("set_tempo", tempo=500000))
    last = 0
    for time, _, message in events:
        ticks = int(time * TICKS_PER_SECOND)
        track.append(message.copy(time=max(0, ticks - last)))
        last = max(last, ticks)
    file.save(path)


def _vibrato(piece: Piece, begin: float):
    """Pitch bends, of which the full swing is two semitones; at the end back to the middle."""
    if piece.channel == DRUM_CHANNEL:
        return []
    bend = (
        [
            int(8191 * piece.vibrato / 200 * sin(2 * pi * 5.5 * step / 40))
            for step in range(int(40 * (SECONDS - 0.5)))
        ]
        if piece.vibrato
        else []
    )
    wheel = [
        (begin + step / 40, 0, mido.Message("pitchwheel", channel=piece.channel, pitch=value))
        for step, value in enumerate(bend)
    ]
    return wheel + [(begin + SECONDS - 0.3, 0, mido.Message("pitchwheel", channel=piece.channel))]
