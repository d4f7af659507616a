/** An engine on the gateway's host hands files over by name: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { examplePath } from '../support/media/examples.ts'
import {
  downloadResult,
  separateFile,
  startWinnow,
  type Winnow,
} from '../support/processes/start-winnow.ts'

const PARTS = ['peaks', 'residual', 'target']

/** Returns the gateway's answers about media, from an offset in its log. */
const mediaCalls = ({ gateway }: Winnow, from: number) =>
  gateway
    .log()
    .slice(from)
    .split('\n')
    .filter((line) => line.includes('"answered a call"'))
    .map((line) => JSON.parse(line) as { method: string; path: string; status: number })
    .filter(({ path }) => path.startsWith('/media/'))
    .map(({ method, path, status }) => `${method} ${path.split('/').at(-1)} ${status}`)

test('an engine on the disk of the gateway exchanges files by name, and any other by upload', async (t) => {
  const winnow = await startWinnow(t, { engines: 0 })
  const separate = async () => {
    const from = winnow.gateway.log().length
    const path = examplePath('siren-and-speech.wav')
    const { submitted, last } = await separateFile(winnow, path, { prompt: 'siren' })
    assert.equal(last.status, 'COMPLETED')
    const calls = mediaCalls(winnow, from)
    return { calls, ...(await downloadResult(winnow, submitted)) }
  }
  const puts = PARTS.map((part) => `PUT ${part} 200`)
  const putsOf = (calls: readonly string[]) => calls.filter((call) => puts.includes(call)).sort()

  const near = await winnow.startEngine()
  const handedOver = await separate()
  const posts = handedOver.calls.filter((call) => /^POST req_\w+ 204$/.test(call))
  assert.equal(posts.length, 1, 'all in one call')
  assert.deepEqual(putsOf(handedOver.calls), [])
  assert.match(handedOver.calls.join('\n'), /^GET file_\w+ 204$/m)
  await near.end('SIGTERM')
  assert.deepEqual(await readdir(join(winnow.folder, 'scratch')), [])

  await winnow.startEngine({ SCRATCH_DIR: join(winnow.folder, 'elsewhere') })
  const sent = await separate()
  assert.deepEqual(putsOf(sent.calls), puts)
  assert.doesNotMatch(sent.calls.join('\n'), /POST|GET file_\w+ 204/)
  for (const name of ['target', 'residual'] as const) {
    assert.deepEqual(sent[name], handedOver[name])
  }
})
