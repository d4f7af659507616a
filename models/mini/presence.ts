/** How much of the target is let through, by how probable the sound is at its best token. */

const SILENT_BELOW = 0.2
const WHOLE_FROM = 0.4

/**
 * `match` from 0 to 1 to a gain from 0 to 1 (presence in training/network.py): a sound that is
 * probably nowhere in a chunk leaves silence, not the crumbs of whatever is alike.
 */
export const presenceGain = (match: number): number =>
  Math.min(1, Math.max(0, (match - SILENT_BELOW) / (WHOLE_FROM - SILENT_BELOW)))
