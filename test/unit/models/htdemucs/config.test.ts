import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readHTDemucsConfig } from '../../../../models/htdemucs/config.ts'

const { kwargs } = JSON.parse(
  readFileSync(
    new URL('../../../fixtures/htdemucs/htdemucs.inventory.json', import.meta.url),
    'utf8',
  ),
)

test('a segment is as long as its fraction says, to the sample', () => {
  assert.equal(readHTDemucsConfig(kwargs).segmentSamples, 343_980) // in floating point, 7.8 s would have 343,979
})

test('an unsupported argument is refused by name', () => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ wiener_iters: 1 }, /HTDemucs with wiener_iters 1 is not supported, only 0/],
    [{ dconv_mode: undefined }, /HTDemucs with dconv_mode nothing is not supported, only 3/],
    [{ norm_starts: 2 }, /norms in its encoders/],
    [{ sources: [] }, /sources to be 1 to 16 names of stems/],
    [{ sources: ['../escape'] }, /sources to be/],
    [{ segment: '1/0' }, /segment to be a fraction of seconds/],
    [{ segment: 7.8 }, /segment to be a fraction of seconds/],
    [{ channels: 2 ** 40 }, /channels to be a whole number from 1 to 65536/],
    [{ freq_emb: 'much' }, /freq_emb to be a number/],
  ]
  for (const [change, message] of cases) {
    assert.throws(() => readHTDemucsConfig({ ...kwargs, ...change }), message)
  }
})
