"""Voices: synthesised speech, and new speakers made of it by WORLD analysis and synthesis.

flite and festival concatenate or model recorded voices, espeak-ng models a vocal tract. WORLD
(M. Morise et al., IEICE Transactions 2016) takes speech apart into pitch, spectral envelope and
aperiodicity; put together again with another pitch and a stretched envelope it is another speaker,
with a melody for its pitch it sings, without periodicity it whispers.
"""

import random
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyworld
import soundfile
from scipy.signal import butter, sosfilt

from winnow_training.data.audio import RATE, Clip, resample, shared

SECONDS = 8
FLITE = {"woman": ["slt"], "man": ["rms", "kal16", "awb"]}
FESTIVAL = {
    "woman": ["upc_ca_ona_hts", "cmu_us_slt_arctic_hts"],
    "man": ["ked_diphone", "msu_ru_nsh_clunits"],
}
ACCENTS = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029", "de", "fr", "es", "it"]
VARIANTS = {
    "train": {
        "woman": ["f1", "f2", "f3", "f4", "Annie", "Alicia", "Andrea", "anika", "aunty", "steph"],
        "man": ["m1", "m2", "m3", "m4", "m5", "m6", "Alex", "Andy", "Denis", "Gene", "adam"],
    },
    "test": {"woman": ["f5", "linda", "belinda", "steph2"], "man": ["m7", "m8", "david"]},
}
WORLD_VOICES = {
    "train": ["slt", "upc_ca_ona_hts", "rms", "kal16", "ked_diphone", "msu_ru_nsh_clunits"],
    "test": ["awb"],
}
"""Speakers that WORLD makes others of; none of the test's is among the training's."""

COUNTS = {
    "train": {"woman": 300, "man": 300, "child": 90, "whisper": 60, "singing": 100, "crowd": 50},
    "test": {"woman": 24, "man": 24, "child": 10, "whisper": 8, "singing": 8, "crowd": 8},
}

WHO = (
    "the old house|a green bottle|my neighbor|the captain|every student|our teacher|the river|"
    "that yellow car|the city council|a tired farmer|her brother|the machine|a small village|"
    "the orchestra|a stranger|your report|the evening train|the kitchen window"
).split("|")
DOES = (
    "has opened|was looking for|never forgot|will probably change|is waiting near|"
    "quickly found|could not believe|asked about|slowly crossed|remembers|tried to repair|"
    "carried|is thinking of|sold|painted|should have seen"
).split("|")
WHAT = (
    "the broken bridge|seven silver spoons|an important letter|the north side of the hill|"
    "two cups of coffee|a very long story|the price of bread|some fresh vegetables|"
    "the wrong answer|a warm jacket|the last page of the book|every single question|"
    "the blue mountains|an empty box|the music of the summer"
).split("|")
WHEN = (
    "yesterday morning|in the middle of the night|before the meeting|without any reason|"
    "for the third time this week|when the rain stopped|after lunch|just in time|"
    "near the station|because nobody else would|as usual|with great care|"
    "in nineteen eighty four|under the table|during the holidays"
).split("|")
SHORT = (
    "please call me back|I do not know|what time is it|thank you very much|"
    "that is quite interesting|welcome to the show|let us begin|could you repeat that|"
    "good evening everyone|it depends"
).split("|")
RUSSIAN = (
    "сегодня хорошая погода|мы идём гулять в парк|мой сосед забыл старую книгу|"
    "поезд приходит вечером|дети играют около реки|она купила свежий хлеб|"
    "завтра будет длинный день|учитель рассказал новую историю"
).split("|")

CATALAN = (
    "avui fa molt bon temps|anem a passejar pel bosc|la meva veïna ha perdut les claus|"
    "el tren arriba al vespre|els nens juguen vora el riu|ella ha comprat pa de pagès|"
    "demà serà un dia molt llarg|el mestre explica una història nova"
).split("|")
OWN_SENTENCES = {"msu_ru_nsh_clunits": RUSSIAN, "upc_ca_ona_hts": CATALAN}
"""Sentences of voices that don't read English."""


def clips(share: float = 1.0) -> dict[str, dict[str, list[Clip]]]:
    """Class to split to clips: to train on `share` of them, to be tested on all."""
    made = {}
    for split, counts in COUNTS.items():
        rng = random.Random(f"voices {split}")
        for name in counts:
            count = shared({split: counts[name]}, share)[split]
            generators = [random.Random(f"{split} {name} {rng.random()}") for _ in range(count)]
            with ThreadPoolExecutor(2) as pool:
                results = list(pool.map(partial(_clip, name, split), generators))
            made.setdefault(name, {})[split] = results
            print(f"spoken: {split} {name}", flush=True)
    return made


def _clip(name: str, split: str, rng: random.Random) -> Clip:
    sound, origin = _sound(name, split, rng)
    return Clip(sound, origin, "own", "Winnow")


def _sound(name: str, split: str, rng: random.Random) -> tuple[np.ndarray, str]:
    """The voice, and how it was made."""
    if name == "crowd":
        return _crowd(split, rng)
    if name in ("woman", "man") and rng.random() < 0.5:
        return _plain(name, split, rng)
    return _world(name, split, rng)


def _plain(name: str, split: str, rng: random.Random) -> tuple[np.ndarray, str]:
    """Speech as a synthesiser says it."""
    recorded = FLITE[name] + FESTIVAL[name]
    if split == "test":
        recorded = [voice for voice in recorded if voice in WORLD_VOICES["test"]]
    else:
        recorded = [voice for voice in recorded if voice not in WORLD_VOICES["test"]]
    if recorded and rng.random() < 0.6:
        voice = rng.choice(recorded)
        samples = _speak(voice, rng)
    else:
        voice = f"{rng.choice(ACCENTS)}+{rng.choice(VARIANTS[split][name])}"
        samples = _espeak(voice, rng)
    return _finish(samples, rng), f"synthesised speech, {voice}"


def _world(name: str, split: str, rng: random.Random) -> tuple[np.ndarray, str]:
    """Another speaker, a whisper or a singer made of a synthesised voice."""
    voice = rng.choice(WORLD_VOICES[split])
    samples = _speak(voice, rng).astype(np.float64)
    pitch, times = pyworld.dio(samples, RATE)
    pitch = pyworld.stonemask(samples, pitch, times, RATE)
    envelope = pyworld.cheaptrick(samples, pitch, times, RATE)
    aperiodicity = pyworld.d4c(samples, pitch, times, RATE)
    is_woman = voice in FLITE["woman"] + FESTIVAL["woman"]
    grown = rng.choice(["woman", "man"]) if name in ("whisper", "singing") else name
    mean = {
        "woman": rng.uniform(165, 260),
        "man": rng.uniform(80, 150),
        "child": rng.uniform(240, 400),
    }[grown]
    # A woman's vocal tract is about 15 % shorter than a man's, a child's a third shorter.
    tract = {"woman": 1.15, "man": 1.0, "child": 1.32}[grown] / (1.15 if is_woman else 1.0)
    envelope = _stretch(envelope, tract * np.exp(rng.gauss(0, 0.05)))
    voiced = pitch > 0
    if voiced.any():
        centre = np.exp(np.log(pitch[voiced]).mean())
        liveliness = rng.uniform(0.7, 1.6)
        pitch = np.where(voiced, mean * (np.maximum(pitch, 1) / centre) ** liveliness, 0)
    if name == "whisper":
        pitch, aperiodicity = np.zeros_like(pitch), np.ones_like(aperiodicity)
    if name == "singing":
        return _sing(envelope, aperiodicity, voiced, mean, voice, rng)
    spoken = pyworld.synthesize(pitch, envelope, aperiodicity, RATE, rng.uniform(4.2, 5.8))
    return _finish(spoken, rng), f"synthesised speech, {voice} by WORLD as {name}"


def _sing(envelope, aperiodicity, voiced, mean, voice, rng) -> tuple[np.ndarray, str]:
    """The voice, slowed and on notes of a scale with vibrato; half the time several at once."""
    scale = rng.choice([[0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10]])
    slow = rng.uniform(9, 14)
    frames = len(voiced)
    seconds = np.arange(frames) * slow / 1000
    notes = np.zeros(frames)
    time, degree = 0.0, rng.randrange(7)
    while time < seconds[-1]:
        length = rng.choice([0.3, 0.5, 0.5, 1.0, 1.6])
        degree = min(13, max(-3, degree + rng.choice([-2, -1, -1, 0, 1, 1, 2])))
        notes[seconds >= time] = scale[degree % 7] + 12 * (degree // 7)
        time += length
    glide = np.exp(-np.arange(12) / 4)
    notes = np.convolve(np.pad(notes, (11, 0), "edge"), glide / glide.sum(), "valid")
    vibrato = rng.uniform(0.1, 0.5) * np.sin(2 * np.pi * rng.uniform(4.5, 6.5) * seconds)
    whole = 0
    for _ in range(rng.choice([1, 1, 2, 4])):
        detune = rng.gauss(0, 0.12)
        pitch = np.where(voiced, mean * 2 ** ((notes + vibrato + detune) / 12), 0)
        whole = whole + pyworld.synthesize(pitch, envelope, aperiodicity, RATE, slow)
    return _finish(whole, rng), f"synthesised singing, {voice} by WORLD"


def _stretch(envelope, factor):
    """Formants moved up by `factor`: a vocal tract shorter by it."""
    bins = np.arange(envelope.shape[1])
    source = np.clip(bins / factor, 0, len(bins) - 1)
    low = source.astype(int)
    high = np.minimum(low + 1, len(bins) - 1)
    share = source - low
    return np.ascontiguousarray(envelope[:, low] * (1 - share) + envelope[:, high] * share)


def _crowd(split: str, rng: random.Random) -> tuple[np.ndarray, str]:
    """Seven to sixteen people at once, near and far."""
    whole = np.zeros(SECONDS * RATE, np.float32)
    for _ in range(rng.randint(7, 16)):
        name = rng.choice(["woman", "man"])
        samples, _ = _plain(name, split, rng)
        level = 10 ** (rng.uniform(-10, 0) / 20) / (samples.std() + 1e-6)
        whole += level * np.roll(np.resize(samples, len(whole)), rng.randrange(len(whole)))
    return whole, "synthesised speech of many"


def _finish(samples, rng) -> np.ndarray:
    samples = np.asarray(samples, np.float32)[: SECONDS * RATE]
    if rng.random() < 0.6:
        samples = _widen(samples, rng)
    return samples


def _widen(samples, rng):
    """Recorded voices end at 8 kHz: fricatives go on above, as noise with the envelope below."""
    band = sosfilt(butter(2, [4500, 7500], "bandpass", fs=RATE, output="sos"), samples)
    envelope = sosfilt(butter(1, 60, fs=RATE, output="sos"), np.abs(band))
    noise = np.random.default_rng(rng.randrange(2**32)).standard_normal(len(samples))
    edges = [7800, min(15500, rng.uniform(10000, 18000))]
    high = sosfilt(butter(3, edges, "bandpass", fs=RATE, output="sos"), noise * envelope)
    return (samples + 10 ** (rng.uniform(-12, 3) / 20) * high).astype(np.float32)


def _speak(voice: str, rng: random.Random):
    if voice in FESTIVAL["woman"] + FESTIVAL["man"]:
        return _festival(voice, rng)
    stretch = f"duration_stretch={rng.uniform(0.85, 1.2):.2f}"
    return _run(
        lambda out: ["flite", "-voice", voice, "--setf", stretch, "-t", _sentences(rng), "-o", out]
    )


def _festival(voice: str, rng: random.Random):
    sentences = OWN_SENTENCES.get(voice)
    text = ". ".join(rng.sample(sentences, 4)) if sentences else _sentences(rng)
    command = f'(begin (voice_{voice}) (utt.save.wave (utt.synth (Utterance Text "{text}")) "%s"))'
    return _run(lambda out: ["festival", "-b", command % out])


def _espeak(voice: str, rng: random.Random):
    pitch, speed = str(rng.randint(30, 70)), str(rng.randint(130, 200))
    return _run(
        lambda out: ["espeak-ng", "-v", voice, "-p", pitch, "-s", speed, "-w", out, _sentences(rng)]
    )


def _run(command):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "speech.wav")
        subprocess.run(command(path), check=True, capture_output=True)
        samples, rate = soundfile.read(path, dtype="float32")
    return resample(samples, rate)


def _sentences(rng: random.Random) -> str:
    text = ""
    while len(text) < 90:
        if rng.random() < 0.3:
            text += f"{rng.choice(SHORT)}. "
        else:
            parts = [rng.choice(words) for words in (WHO, DOES, WHAT, WHEN)]
            text += f"{' '.join(parts)}. "
    return text
