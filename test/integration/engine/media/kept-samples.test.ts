/** Blocks are returned unchanged, from memory or, beyond its limit, from a file. */

import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { KeptSamples } from '../../../../engine/media/kept-samples.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { noise } from '../../../support/media/signals.ts'

/** Four seconds of stereo at 44.1 kHz: two blocks fit in memory, a third does not. */
const block = (seed: number) => [noise(4, 44_100, seed), noise(4, 44_100, seed + 1)]
const BLOCK_BYTES = 2 * 4 * 44_100 * Float32Array.BYTES_PER_ELEMENT

test('blocks come back in order, the first without a file, and nothing is left', async (t) => {
  const folder = temporaryFolder(t)
  const samples = new KeptSamples(join(folder, 'samples'))
  const seeds = [1, 3, 5, 7]
  for (const [i, seed] of seeds.entries()) {
    await samples.add(block(seed))
    const files = await readdir(folder)
    assert.deepEqual(files, i < 2 ? [] : ['samples'])
  }
  const { size } = await stat(join(folder, 'samples'))
  assert.equal(size, 2 * BLOCK_BYTES)
  let i = 0
  for await (const found of samples.blocks(2)) assert.deepEqual(found, block(seeds[i++]!))
  assert.equal(i, seeds.length)
  await samples.remove()
  await samples.remove()
  assert.deepEqual(await readdir(folder), [])
})
