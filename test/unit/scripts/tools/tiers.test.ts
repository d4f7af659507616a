import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { chooseFiles, inShard, shardOf } from '../../../../scripts/tools/test/tiers.mjs'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const FILES = readdirSync(join(ROOT, 'test'), { recursive: true })
  .map((file) => join('test', String(file)))
  .filter((file) => file.endsWith('.test.ts'))
  .sort()

test('every test file is in one tier, and `all` is `quick` and `rest` together', () => {
  const [quick, rest, nightly, all] = (['quick', 'rest', 'nightly', 'all'] as const).map(
    (tier) => chooseFiles(FILES, tier).files,
  )
  assert.deepEqual([...quick!, ...rest!, ...nightly!].sort(), FILES)
  assert.deepEqual([...quick!, ...rest!].sort(), all)
  for (const tier of [quick!, rest!, nightly!]) assert.ok(tier.length > 0)
})

test('the contract runs on PostgreSQL in `rest`, not in `quick`', () => {
  assert.deepEqual(chooseFiles(FILES, 'quick').onPostgres, [])
  const { onPostgres } = chooseFiles(FILES, 'rest')
  assert.ok(onPostgres.includes('test/contract/states.test.ts'))
  assert.ok(!onPostgres.includes('test/contract/openapi.test.ts'))
})

test('no file of the quick tier needs a Debian program', () => {
  const needs = /from '[./]*\/(boot-systemd|debian-package|start-containers|fake-time)\.ts'/
  for (const file of chooseFiles(FILES, 'quick').files) {
    assert.doesNotMatch(readFileSync(join(ROOT, file), 'utf8'), needs, file)
  }
})

test('shards divide the files, each of which runs once', () => {
  const shards = ['1/3', '2/3', '3/3'].map((text) => inShard(FILES, shardOf(text)))
  assert.deepEqual(shards.flat().sort(), FILES)
  for (const wrong of ['0/3', '4/3', '3', '', '1/0', 'a/b']) {
    assert.throws(() => shardOf(wrong), /a shard is such as 2\/4/, wrong)
  }
})

test('part of a path selects files; packages must be named from the start', () => {
  const { files } = chooseFiles(FILES, null, ['e2e/systemd', 'deb'])
  assert.deepEqual(files, ['test/e2e/systemd.test.ts'])
  const packageFiles = chooseFiles(FILES, null, ['test/package/deb'])
  assert.deepEqual(packageFiles.files, ['test/package/deb.test.ts'])
})
