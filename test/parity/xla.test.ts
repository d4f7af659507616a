/**
 * Graphs that XLA compiles agree with models that run operation by operation: the parity tests that
 * run a graph pass with XLA as they do without it.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** Patterns for the tests in each file that run a graph. */
const FILES = {
  'mini-network': 'agree',
  'mini-precision': 'also as a graph',
  tagger: 'served weights agree',
  'audiosep/network': 'as a graph',
  'htdemucs/network': 'as a graph',
  'roformer/network': 'as a graph',
  'sam-audio/flow': 'as a graph',
  'scnet/network': 'as a graph',
  'spleeter/network': 'as a graph',
}
/** Skips LLVM's work on machine code, which takes most of the time, but not XLA's on the graph. */
const QUICK = '--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true'
const PRELOADED = './test/support/parity/compile-at-once.ts'
const timeout = 600_000

for (const [file, tests] of Object.entries(FILES)) {
  test(`${file}: it agrees when compiled by XLA`, { timeout }, async (t) => {
    const cache = await mkdtemp(join(tmpdir(), 'xla-'))
    t.after(() => rm(cache, { recursive: true }))
    const flags = `--tf_xla_persistent_cache_directory=${cache}`
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const path = `test/parity/${file}.test.ts`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--import', PRELOADED, `--test-name-pattern=${tests}`, path],
      { env: { ...env, XLA: 'on', TF_XLA_FLAGS: flags, XLA_FLAGS: QUICK }, timeout },
    )
    assert.match(stdout, /^# pass [1-9]/m)
    assert.notDeepEqual(await readdir(cache), [], 'nothing was compiled')
  })
}
