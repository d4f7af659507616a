/** Decides whether the target sounds in a chunk, and the gain on it. */

/** Share of a mixture's energy above which the odds rise; the training's network has it too. */
const MAJOR_SHARE = 0.2

const SOFTENED_UNTIL = 0.15
const WHOLE_FROM = 0.25
/** 28 dB. */
const SOFTENED_GAIN = 10 ** (-28 / 20)

/**
 * The match: how probable it is that the sound is in a chunk (`match_of` of the training's
 * network). `probability` is that of its best token, `share` that of the mixture's energy that was
 * found, both from 0 to 1. A target that is much of the mixture, or all of it, is seldom a remnant
 * of another sound, so it raises the odds, up to five times. Little of it says nothing: sounds may
 * be soft.
 */
export const matchOf = (probability: number, share: number): number => {
  const odds = probability * Math.max(1, share / MAJOR_SHARE)
  // not odds / (odds + absence), which rounding lets fall by a bit where the share rises by one
  return 1 / (1 + (1 - probability) / odds)
}

/**
 * `match` from 0 to 1 to a gain (`presence` of the training's network). If the sound is probably
 * absent from the whole chunk, the target is a remnant of other sounds, and is turned down; but a
 * sound that is there and was not recognised must never be silenced.
 */
export const presenceGain = (match: number): number => {
  const sureness = (match - SOFTENED_UNTIL) / (WHOLE_FROM - SOFTENED_UNTIL)
  return SOFTENED_GAIN + (1 - SOFTENED_GAIN) * Math.min(1, Math.max(0, sureness))
}
