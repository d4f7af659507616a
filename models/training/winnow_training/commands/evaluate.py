"""Measures a checkpoint on what it was never trained on: `mini-evaluate CACHE NAME`. NAME may
also be a folder of served weights.

Two sources at 0 dB, phrasings that were held out, everything seeded; first real recordings, if
there are banks of them, by speakers and instruments that were held out, then what the recipe makes.
SI-SDR: J. Le Roux et al., ICASSP 2019; SDR as in AudioSep's evaluation, without any filter.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from winnow_training.data.cases import recorded_cases, test_cases
from winnow_training.model.checkpoints import load_average, weights_path
from winnow_training.model.measures import is_present, measure


def report(results: dict[str, list[dict]]) -> str:
    """Tables in Markdown, for the model card: real recordings, then what the recipe makes."""
    parts = [
        {
            category: rows
            for category, rows in results.items()
            if category.startswith("recorded: ") == is_real
        }
        for is_real in (True, False)
    ]
    return "\n\n".join(tables(part) for part in parts if part)


def tables(results: dict[str, list[dict]]) -> str:
    """A row for each category, what is absent, the match score, and a row for each class."""
    lines = [
        "| two sources at 0 dB | n | SI-SDRi mean ± standard error (median, quartiles) "
        "| SDRi mean | improved | follows | silenced |",
        "|---|---|---|---|---|---|---|",
    ]
    present = {name: rows for name, rows in results.items() if is_present(rows)}
    absent = [row for name, rows in results.items() if name not in present for row in rows]
    everything = [row for rows in present.values() for row in rows]
    lines += [table_row(name, rows) for name, rows in [*present.items(), ("all", everything)]]
    leaks = np.percentile([row["leak"] for row in absent], (25, 50, 75))
    lines += [
        "",
        "Absent sounds, energy of the target against the mixture, median (quartiles): "
        f"{leaks[1]:.1f} dB ({leaks[0]:.1f} to {leaks[2]:.1f})",
        "",
        match_report(everything, absent),
        "",
        "| prompt's class | n | SI-SDRi mean (least to most) |",
        "|---|---|---|",
    ]
    by_class = {}
    for row in everything:
        by_class.setdefault(row["name"], []).append(row["si_sdri"])
    for name, gains in sorted(by_class.items(), key=lambda item: -np.mean(item[1])):
        spread = f"{np.mean(gains):.1f} ({min(gains):.1f} to {max(gains):.1f})"
        lines.append(f"| {name} | {len(gains)} | {spread} |")
    return "\n".join(lines)


def table_row(category: str, rows: list[dict]) -> str:
    gain = np.array([row["si_sdri"] for row in rows])
    error = gain.std(ddof=1) / len(gain) ** 0.5
    low, middle, high = np.percentile(gain, (25, 50, 75))
    spread = f"{gain.mean():.1f} ± {error:.1f} ({middle:.1f}, {low:.1f} to {high:.1f})"
    plain = np.mean([row["sdri"] for row in rows])
    improved = 100 * np.mean(gain > 0)
    follows = 100 * np.mean([row["follows"] for row in rows])
    silenced = sum(row["is_silenced"] for row in rows)
    return (
        f"| {category} | {len(rows)} | {spread} | {plain:.1f} | {improved:.0f} % "
        f"| {follows:.0f} % | {silenced} |"
    )


def match_report(present: list[dict], absent: list[dict]) -> str:
    """How well the match score tells present from absent."""
    present, absent = ([row["match"] for row in rows] for rows in (present, absent))
    order = np.mean([[p > a for a in absent] for p in present])
    hits, alarms = np.mean(np.array(present) > 0.5), np.mean(np.array(absent) > 0.5)
    return (
        f"Match score: a present sound scores above an absent one in {100 * order:.0f} % of "
        f"pairs; over one half for {100 * hits:.0f} % of present sounds and for "
        f"{100 * alarms:.0f} % of absent ones."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("name", help="of a checkpoint in the cache, or a folder of served weights")
    parser.add_argument("--only", choices=["recorded", "made"], help="one of the two tables")
    options = parser.parse_args()
    path = weights_path(options.cache, options.name)
    model, _ = load_average(path)
    kinds = {"recorded": recorded_cases, "made": test_cases}
    results = {
        name: measure(model, cases)
        for kind, make in kinds.items()
        if options.only in (kind, None)
        for name, cases in make(options.cache).items()
    }
    name = "served" if path.is_dir() else options.name
    (options.cache / f"{name}-results.json").write_text(json.dumps(results))
    print(report(results))


if __name__ == "__main__":
    main()
