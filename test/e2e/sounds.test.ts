/** Lists the sounds in media from end to end, with the real tagger. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import type { HeardSound } from '../../shared/heard-sounds.ts'
import { examplePath, readWav16 } from '../support/media/examples.ts'
import { startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { wavBytes } from '../support/media/wav.ts'

let winnow: Winnow
const RATE = 44_100
/** Drums and a speaking man, as long as both sound. */
let mixture: { path: string; seconds: number }
const SOUNDING = ['drum kit', 'man']
before(async (t) => {
  winnow = await startWinnow(t as TestContext)
  const sources = ['drums-and-flute/drums.wav', 'siren-and-speech/speech.wav']
  const paths = sources.map((name) => examplePath(`sources/${name}`))
  const [drums, speech] = (await Promise.all(paths.map(readWav16))).map(([plane]) => plane)
  const length = Math.min(drums!.length, speech!.length)
  const sum = drums!.subarray(0, length).map((sample, i) => (sample + speech![i]!) / 2)
  mixture = { path: join(winnow.folder, 'drums-and-speech.wav'), seconds: length / RATE }
  await writeFile(mixture.path, wavBytes([sum], RATE))
})

const namesOf = (sounds: readonly HeardSound[] = []) => sounds.map(({ name }) => name)

test('the sounds of a mixture are listed by name, the most certain first', async () => {
  const { data, usage } = await winnow.client.sounds(mixture.path)
  for (const name of SOUNDING) assert.ok(namesOf(data.sounds).includes(name), name)
  assert.equal(data.sounds[0]!.name, 'drum kit')
  const { seconds } = mixture
  assert.deepEqual([data.duration, usage.quantity], [seconds, 1])
  for (const { spans, share } of data.sounds) {
    assert.ok(spans.every(({ start, end }) => start >= 0 && end > start && end <= seconds + 0.01))
    assert.ok(share > 0 && share <= 1)
  }
})

test('a separation has the same list', async () => {
  const [listed, separated] = await Promise.all([
    winnow.client.sounds(mixture.path),
    winnow.client.separate(mixture.path, 'drums'),
  ])
  assert.deepEqual(namesOf(separated.data.sounds), namesOf(listed.data.sounds))
})

test('a file without sound fails as its separation does', async () => {
  const media = { name: 'a.wav', contentType: 'audio/wav', bytes: new Blob(['no sound']) }
  await assert.rejects(winnow.client.sounds(media), { code: 'INVALID_MEDIA' })
})
