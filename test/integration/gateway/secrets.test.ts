import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readKeys } from '../../../gateway/secrets.ts'

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test('keys are made once, in a file that only its owner may read', async (t) => {
  const folder = await temporaryFolder(t)
  const keys = await readKeys(folder)
  assert.equal(Buffer.from(keys.encryptionKey, 'base64url').length, 32)
  assert.notEqual(keys.encryptionKey, keys.signingKey)
  assert.deepEqual(await readKeys(folder), keys)
  assert.equal((await stat(join(folder, 'secrets.json'))).mode & 0o777, 0o600)
})

test('a file from before webhooks keeps its signing key and gains a sealing key', async (t) => {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'secrets.json')
  const old = { signing_key: 'k'.repeat(43), of_the_future: 1 }
  await writeFile(path, JSON.stringify(old))
  const keys = await readKeys(folder)
  assert.equal(keys.signingKey, old.signing_key)
  assert.deepEqual(await readKeys(folder), keys)
  const { sealing_key, ...rest } = JSON.parse(await readFile(path, 'utf8'))
  assert.deepEqual([sealing_key, rest], [keys.encryptionKey, old])
})

test('keys that are broken are refused, not replaced', async (t) => {
  const folder = await temporaryFolder(t)
  const good = 'k'.repeat(43)
  for (const keys of [
    { signing_key: 'short', sealing_key: good },
    { sealing_key: good },
    { signing_key: good, sealing_key: 'short' },
    { signing_key: good, sealing_key: null },
  ]) {
    await writeFile(join(folder, 'secrets.json'), JSON.stringify(keys))
    await assert.rejects(readKeys(folder), /holds no (signing|sealing)_key/)
  }
})
