"""Building blocks of sound synthesis: curves, noises, filters, modes, and putting in place.

A track is a mono array at RATE; every random choice comes from the generator that is handed in.
"""

import numpy as np
from scipy import fft, ndimage, signal

from winnow_training.data.audio import RATE

Generator = np.random.Generator
Track = np.ndarray


def moments(seconds: float) -> Track:
    """The time of each sample, in seconds."""
    return np.arange(round(seconds * RATE)) / RATE


def phase(hertz: Track) -> Track:
    """The running phase, in radians, of an oscillator that follows a curve of frequencies."""
    return 2 * np.pi * np.cumsum(hertz) / RATE


def drift(rng: Generator, count: int, per_second: float, low: float, high: float) -> Track:
    """A smooth random curve between two bounds that turns about `per_second` times a second."""
    coarse = np.linspace(0, 1, max(8, count // 200))
    knots = max(4, round(count / RATE * per_second) + 2)
    bends = rng.uniform(low, high, knots)
    places = coarse * (knots - 1)
    left = np.minimum(places.astype(int), knots - 2)
    ease = 0.5 - 0.5 * np.cos(np.pi * (places - left))
    curve = bends[left] + (bends[left + 1] - bends[left]) * ease
    return np.interp(np.linspace(0, 1, count), coarse, curve)


def coloured(rng: Generator, count: int, slope: float = 0.0) -> Track:
    """Gaussian noise of unit level, power falling as frequency ** -slope (1 pink, 2 brownish)."""
    size = fft.next_fast_len(count, real=True)
    bins = np.arange(size // 2 + 1, dtype=np.float64)
    lowest = max(1.0, 20 * size / RATE)
    weights = np.maximum(bins, lowest) ** (-slope / 2)
    weights[0] = 0
    spectrum = rng.standard_normal(len(bins)) + 1j * rng.standard_normal(len(bins))
    track = fft.irfft(spectrum * weights, size)[:count]
    return track / (track.std() + 1e-12)


def noise_around(rng: Generator, hertz: Track, width: float) -> Track:
    """Noise of about `width` hertz around a moving centre: slow complex noise turns a carrier."""
    slow = signal.butter(1, width / 2, fs=RATE, output="sos")
    parts = signal.sosfilt(slow, rng.standard_normal((2, len(hertz))))
    parts /= parts.std() + 1e-12
    turned = phase(hertz)
    return parts[0] * np.cos(turned) - parts[1] * np.sin(turned)


def band(track: Track, low: float | None, high: float | None, order: int = 2) -> Track:
    """The part between two frequencies; None leaves that side open."""
    if low is None:
        sections = signal.butter(order, high, "lowpass", fs=RATE, output="sos")
    elif high is None:
        sections = signal.butter(order, low, "highpass", fs=RATE, output="sos")
    else:
        sections = signal.butter(order, (low, high), "bandpass", fs=RATE, output="sos")
    return signal.sosfilt(sections, track)


def resonate(track: Track, hertz: float, width: float) -> Track:
    """The track through one resonance, unit gain at its peak."""
    return signal.lfilter(*signal.iirpeak(hertz, hertz / width, fs=RATE), track)


def there_and_back(turns: Track, peak: float) -> Track:
    """Straight from 0 to 1 until `peak` of each turn, and back in the rest of it."""
    turn = turns % 1
    return np.where(turn < peak, turn / peak, (1 - turn) / (1 - peak))


def lag(curve: Track, seconds: float) -> Track:
    """The curve as something with inertia follows it (one pole)."""
    keep = np.exp(-1 / (seconds * RATE))
    start = [keep * curve[0]]
    return signal.lfilter([1 - keep], [1, -keep], curve, zi=start)[0]


def harmonics(angle: Track, weights: Track) -> Track:
    """Partials 1, 2, 3 ... of a running phase; those that would pass Nyquist are left out."""
    fastest = np.max(np.diff(angle)) / np.pi
    turn = np.exp(1j * angle)
    partial, track = np.ones_like(turn), np.zeros(len(angle))
    for weight in weights[: max(1, int(0.98 / fastest))]:
        partial *= turn
        track += weight * partial.imag
    return track


def ring(hertz: Track, decays: Track, gains: Track, longest: float = 8.0) -> Track:
    """Modal synthesis: struck modes, each a sine that decays (seconds to 1/e)."""
    track = np.zeros(round(RATE * min(longest, 7 * np.max(decays))))
    for mode, decay, gain in zip(hertz, decays, gains):
        if mode < RATE * 0.48:
            time = moments(min(longest, 7 * decay))
            track[: len(time)] += gain * np.exp(-time / decay) * np.sin(2 * np.pi * mode * time)
    return track


def burst(rng: Generator, decay: float, low: float, high: float) -> Track:
    """A click: noise in a band that decays (seconds to 1/e)."""
    time = moments(max(8 * decay, 0.004))
    click = band(rng.standard_normal(len(time)) * np.exp(-time / decay), low, high, 1)
    return click / (np.max(np.abs(click)) + 1e-12)


def place(track: Track, grain: Track, second: float, gain: float = 1.0) -> None:
    """Adds a grain to the track at a time; what reaches past the end is cut."""
    start = round(second * RATE)
    if 0 <= start < len(track):
        end = min(len(track), start + len(grain))
        track[start:end] += gain * grain[: end - start]


def gate(count: int, spans: list[tuple[float, float]], ramp: float = 0.004) -> Track:
    """1 within the spans (seconds from, to), 0 outside, with straight ramps between."""
    opened = np.zeros(count)
    for begin, end in spans:
        opened[max(0, round(begin * RATE)) : max(0, round(end * RATE))] = 1
    return ndimage.uniform_filter1d(opened, max(1, round(ramp * RATE)), mode="nearest")


def occasions(rng: Generator, seconds: float, shortest: float, longest: float) -> list[float]:
    """Times of events with random gaps between, the first one early."""
    times = [rng.uniform(0.02, min(0.15 * seconds, 0.5))]
    while times[-1] < seconds:
        times.append(times[-1] + rng.uniform(shortest, longest))
    return times[:-1]


def stretches(
    rng: Generator, first: tuple, seconds: float, lengths: tuple, pauses: tuple
) -> list[tuple[float, float]]:
    """Spans of random lengths with random pauses between, as `gate` takes them; of the first one's
    beginning, of lengths and of pauses the least and the most, in seconds."""
    spans, second = [], rng.uniform(*first)
    while second < seconds:
        spans.append((second, second + rng.uniform(*lengths)))
        second = spans[-1][1] + rng.uniform(*pauses)
    return spans


def echoes(rng: Generator, track: Track, seconds: float, level: float) -> Track:
    """The track with a diffuse tail (decaying noise), for sounds that come with their space."""
    time = moments(6 * seconds)
    tail = band(rng.standard_normal(len(time)) * np.exp(-time / seconds), 150, 5000, 1)
    tail *= level / np.sqrt(np.sum(tail**2))
    return track + signal.oaconvolve(track, tail)[: len(track)]
