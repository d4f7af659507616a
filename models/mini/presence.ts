/** The gain on the target, from the probability that it sounds at its most probable token. */

const SOFTENED_UNTIL = 0.1
const WHOLE_FROM = 0.2
/** 26 dB. */
const SOFTENED_GAIN = 10 ** (-26 / 20)

/**
 * `match` from 0 to 1 to a gain (`presence` of the training's network). Where the sound is probably
 * absent from the whole chunk, the target is a remnant of other sounds, and is turned down; but a
 * sound that is there and was not recognised must never be silenced.
 */
export const presenceGain = (match: number): number => {
  const sureness = (match - SOFTENED_UNTIL) / (WHOLE_FROM - SOFTENED_UNTIL)
  return SOFTENED_GAIN + (1 - SOFTENED_GAIN) * Math.min(1, Math.max(0, sureness))
}
