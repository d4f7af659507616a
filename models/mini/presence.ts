/** The gain on the target, from the probability that it sounds at its most probable token. */

const SILENT_BELOW = 0.2
const WHOLE_FROM = 0.4

/**
 * `match` from 0 to 1 to a gain from 0 to 1 (`presence` of the training's network): where the sound
 * is probably absent from the whole chunk, the target is silence and not a remnant of other sounds.
 */
export const presenceGain = (match: number): number =>
  Math.min(1, Math.max(0, (match - SILENT_BELOW) / (WHOLE_FROM - SILENT_BELOW)))
