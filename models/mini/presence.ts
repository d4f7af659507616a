/** Decides whether the target is present in a chunk, and with what gain. */

/** Share of a mixture's energy above which the odds rise, as in the training network. */
const MAJOR_SHARE = 0.2

const SOFTENED_UNTIL = 0.15
const WHOLE_FROM = 0.25
/** 28 dB. */
const SOFTENED_GAIN = 10 ** (-28 / 20)

/**
 * Returns the match: how probable it is that the sound is in a chunk (`match_of` in the training
 * network). `probability` is that of its most probable token, `share` is its share of the mixture's
 * energy, both from 0 to 1. A target that makes up most of the mixture is seldom a remnant of
 * another sound, so it raises the odds up to five times. A small share proves nothing, because
 * sounds may be soft.
 */
export const matchOf = (probability: number, share: number): number => {
  const odds = probability * Math.max(1, share / MAJOR_SHARE)
  // Unlike odds / (odds + absence), this never falls by a rounding error when the share rises.
  return 1 / (1 + (1 - probability) / odds)
}

/**
 * Maps a match from 0 to 1 to a gain (`presence` in the training network). If the sound is probably
 * absent from the whole chunk, the target is a remnant of other sounds and is turned down. It is
 * never silenced completely, because a sound that is present may have gone unrecognised.
 */
export const presenceGain = (match: number): number => {
  const sureness = (match - SOFTENED_UNTIL) / (WHOLE_FROM - SOFTENED_UNTIL)
  return SOFTENED_GAIN + (1 - SOFTENED_GAIN) * Math.min(1, Math.max(0, sureness))
}
