/**
 * As XLA compiles them, graphs of models agree with their references, and with what is computed
 * operation by operation: the tests of parity do so with XLA, as without.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** Each has a test that runs a graph. */
const FILES = [
  'mini-network',
  'audiosep/network',
  'htdemucs/network',
  'roformer/network',
  'sam-audio/velocity',
  'spleeter/network',
]
const timeout = 900_000

for (const file of FILES) {
  test(`${file}: compiled by XLA it agrees`, { timeout }, async (t) => {
    const cache = await mkdtemp(join(tmpdir(), 'xla-'))
    t.after(() => rm(cache, { recursive: true }))
    const flags = `--tf_xla_persistent_cache_directory=${cache}`
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--test', `test/parity/${file}.test.ts`],
      { env: { ...env, XLA: 'on', TF_XLA_FLAGS: flags }, timeout },
    )
    assert.notDeepEqual(await readdir(cache), [], 'nothing was compiled')
  })
}
