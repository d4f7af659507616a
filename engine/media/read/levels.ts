/** Measures the level of a whole mixture, which some models need before its first chunk. */

import { rowsFor, sidesOf } from '../../../models/lanes/channel-rows.ts'
import { LevelMeter, type Level } from '../../../models/lanes/level.ts'
import type { Mixture } from './mixture.ts'

/** Channels that stereo networks take together. */
const WIDTH = 2

/** Reads all blocks; returns one level for each row of channels that `rowsFor` forms. */
export async function levelsOf(
  mixture: Pick<Mixture, 'channels' | 'channelMask' | 'blocks'>,
): Promise<Level[]> {
  const rows = rowsFor(mixture.channels, WIDTH, mixture.channelMask)
  const meters = rows.map(() => new LevelMeter())
  for await (const block of mixture.blocks()) {
    for (const [i, sides] of sidesOf(block, rows).entries()) meters[i]!.add(sides)
  }
  return meters.map(({ level }) => level)
}
