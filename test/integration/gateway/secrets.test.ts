import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertSameSecrets, readSecrets, type Keys } from '../../../gateway/secrets.ts'
import { temporaryFolder } from '../../support/basics/temporary-folder.ts'
import { openTestDatabase } from '../../support/database/test-database.ts'
import { createMigratedDatabase } from '../../support/database/start-postgres.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'

const newKey = () => randomBytes(32).toString('base64url')
const NOTHING_NAMED = {
  databaseUrl: undefined,
  signingKeyFile: undefined,
  encryptionKeyFile: undefined,
  credentialsFolder: undefined,
}
const SHARED = 'postgres://database/winnow'

test('keys are made once, in files that only their owner can read', async (t) => {
  const dataFolder = temporaryFolder(t)
  const secrets = await readSecrets({ ...NOTHING_NAMED, dataFolder })
  const [[signing], [encryption]] = [secrets.signingKeys, secrets.encryptionKeys]
  for (const key of [signing, encryption]) assert.equal(Buffer.from(key, 'base64url').length, 32)
  assert.notEqual(signing, encryption)
  assert.deepEqual(await readSecrets({ ...NOTHING_NAMED, dataFolder }), secrets)
  for (const name of ['signing-key', 'encryption-key']) {
    assert.equal((await stat(join(dataFolder, name))).mode & 0o777, 0o600)
  }
})

test('the keys of an earlier version are kept, in files of their own', async (t) => {
  const dataFolder = temporaryFolder(t)
  const old = { signing_key: newKey(), sealing_key: newKey() }
  await writeFile(join(dataFolder, 'secrets.json'), JSON.stringify(old))
  const keys = { signingKeys: [old.signing_key], encryptionKeys: [old.sealing_key] }
  assert.deepEqual(await readSecrets({ ...NOTHING_NAMED, dataFolder }), keys)
  assert.deepEqual(await readdir(dataFolder), ['encryption-key', 'signing-key'])
  assert.deepEqual(await readSecrets({ ...NOTHING_NAMED, dataFolder }), keys)
})

test('a file from before webhooks keeps its signing key, and an encryption key is made', async (t) => {
  const dataFolder = temporaryFolder(t)
  const old = { signing_key: newKey() }
  await writeFile(join(dataFolder, 'secrets.json'), JSON.stringify(old))
  const { signingKeys, encryptionKeys } = await readSecrets({ ...NOTHING_NAMED, dataFolder })
  assert.deepEqual(signingKeys, [old.signing_key])
  assert.equal(Buffer.from(encryptionKeys[0], 'base64url').length, 32)
})

test('old keys that are broken are refused, not replaced', async (t) => {
  const dataFolder = temporaryFolder(t)
  const good = newKey()
  for (const keys of [
    { signing_key: 'short', sealing_key: good },
    { sealing_key: good },
    { signing_key: good, sealing_key: 'short' },
    { signing_key: good, sealing_key: null },
  ]) {
    await writeFile(join(dataFolder, 'secrets.json'), JSON.stringify(keys))
    await assert.rejects(readSecrets({ ...NOTHING_NAMED, dataFolder }), StartError)
    assert.deepEqual(JSON.parse(await readFile(join(dataFolder, 'secrets.json'), 'utf8')), keys)
  }
})

test('key files hold one or two keys; errors describe an invalid key without showing it', async (t) => {
  const dataFolder = temporaryFolder(t)
  const [signingKeyFile, encryptionKeyFile] = [join(dataFolder, 's'), join(dataFolder, 'e')]
  const [one, two, three] = [newKey(), newKey(), newKey()]
  const asOpenSsl = Buffer.from(three, 'base64url').toString('base64')
  await writeFile(signingKeyFile, `${one}\n${two}\n`)
  const read = () =>
    readSecrets({
      ...NOTHING_NAMED,
      databaseUrl: SHARED,
      dataFolder,
      signingKeyFile,
      encryptionKeyFile,
    })
  await assert.rejects(read(), /^StartError: ENCRYPTION_KEY_FILE: ENOENT/)
  await writeFile(encryptionKeyFile, asOpenSsl)
  assert.deepEqual(await read(), { signingKeys: [one, two], encryptionKeys: [three] })
  for (const text of ['', 'short', `${one}\n${two}\n${three}`, `${one} ${two}`]) {
    await writeFile(encryptionKeyFile, text)
    const error: Error = await read().then(
      () => assert.fail(text),
      (thrown: Error) => thrown,
    )
    assert.match(error.message, /ENCRYPTION_KEY_FILE must hold one or two keys, each of 32 bytes/)
    assert.ok(!error.message.includes(one))
  }
})

test("systemd's credentials are used if no file is named", async (t) => {
  const [dataFolder, credentialsFolder] = [temporaryFolder(t), temporaryFolder(t)]
  const [signing, encryption] = [newKey(), newKey()]
  await writeFile(join(credentialsFolder, 'winnow_signing-key'), signing)
  await writeFile(join(credentialsFolder, 'winnow_encryption-key'), encryption)
  const settings = { ...NOTHING_NAMED, databaseUrl: SHARED, dataFolder, credentialsFolder }
  assert.deepEqual(await readSecrets(settings), {
    signingKeys: [signing],
    encryptionKeys: [encryption],
  })
  assert.deepEqual(await readdir(dataFolder), [])
})

test('with a shared database no keys are made', async (t) => {
  const dataFolder = temporaryFolder(t)
  const starting = readSecrets({ ...NOTHING_NAMED, databaseUrl: SHARED, dataFolder })
  await assert.rejects(starting, /StartError: SIGNING_KEY_FILE must name a file.*openssl rand/)
  assert.deepEqual(await readdir(dataFolder), [])
})

test('a gateway with other keys is refused; keys are replaced in three steps', async (t) => {
  const folder = temporaryFolder(t)
  const store = await openTestDatabase({ folder, url: await createMigratedDatabase(t) })
  t.after(() => store.destroy())
  const [old, next, foreign] = [newKey(), newKey(), newKey()]
  const start = (encryptionKeys: Keys) =>
    assertSameSecrets(store, { signingKeys: [old], encryptionKeys })
  await Promise.all([start([old]), start([old])]) // two gateways at the same moment
  const refused = /StartError: ENCRYPTION_KEY_FILE: none of its keys/
  await assert.rejects(start([foreign]), refused)
  await assert.rejects(start([next]), refused)
  await start([old, next])
  await start([next, old])
  await start([old, next]) // another gateway, not yet updated
  await start([next, old])
  await start([next])
  await assert.rejects(start([old]), refused)
})
