/** How the image runs: test/package/image.test.ts builds it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configOf } from '../../../../../scripts/tools/package/image.ts'

test('what a container keeps lies on volumes: its data, and its caches', () => {
  for (const compute of ['cpu', 'cuda'] as const) {
    const { Env, Volumes } = configOf(compute) as { Env: string[]; Volumes: object }
    const folders = Env.flatMap((line) => /^(?:DATA_DIR|\w*CACHE\w*)=(.+)$/.exec(line)?.[1] ?? [])
    assert.equal(folders.length, 3)
    for (const folder of folders) {
      const isKept = Object.keys(Volumes).some((volume) => `${folder}/`.startsWith(`${volume}/`))
      assert.ok(isKept, folder)
    }
  }
})
