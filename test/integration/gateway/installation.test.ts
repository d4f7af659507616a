/**
 * Two installations with the same bucket, folder, database or broker: the second does not start.
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cp, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimMedia } from '../../../gateway/operations/installation.ts'
import { openLocalDisk } from '../../../gateway/media-store/local-disk.ts'
import { OWNER_KEY, type MediaStore } from '../../../gateway/media-store/media-store.ts'
import { openBucket } from '../../../gateway/media-store/s3.ts'
import { copyDatabase } from '../../../gateway/store/copy.ts'
import type { Store } from '../../../gateway/store/database.ts'
import { ensureInstallation } from '../../../gateway/store/installation.ts'
import { startNatsServer } from '../../../scripts/cli/start/nats-server.ts'
import { database } from '../../../scripts/cli/admin/database.ts'
import { newId } from '../../../shared/ids.ts'
import { temporaryFolder } from '../../support/basics/temporary-folder.ts'
import { runCommand } from '../../support/processes/run-command.ts'
import { launchProgram } from '../../support/processes/start-program.ts'
import { createTestDatabase, openTestDatabase } from '../../support/database/test-database.ts'
import { startS3 } from '../../support/http/start-s3.ts'
import { startWinnow } from '../../support/processes/start-winnow.ts'

async function newDatabase(t: TestContext, kind: 'sqlite' | 'postgres' = 'sqlite'): Promise<Store> {
  const store = await openTestDatabase(await createTestDatabase(t, temporaryFolder(t), kind))
  t.after(() => store.destroy())
  return store
}

const openFolder = (folder: string): Promise<MediaStore> =>
  openLocalDisk({
    folder,
    signingKeys: [randomBytes(32).toString('base64url')],
    baseUrls: { client: () => '', engine: () => '' },
    freeBytesMin: 0,
    isShared: true,
  })

/** Claims the media as a gateway does when it starts. */
const claim = async (store: Store, media: MediaStore): Promise<void> =>
  claimMedia(store, media, await ensureInstallation(store, newId('inst')))

const idOf = async (store: Store) =>
  (await ensureInstallation(store, 'inst_of_nobody')).installation_id

/** Both media stores must be empty. */
async function assertKeptApart(t: TestContext, one: MediaStore, other: MediaStore): Promise<void> {
  const [first, second] = [await newDatabase(t), await newDatabase(t)]
  await claim(first, one)
  await claim(first, one) // another gateway of the same installation, or a restart
  const [id, otherId] = [await idOf(first), await idOf(second)]
  assert.notEqual(id, otherId)
  await assert.rejects(claim(second, one), ({ name, message }: Error) => {
    assert.equal(name, 'StartError')
    for (const part of [id, otherId, one.place, 'winnow-installation']) {
      assert.ok(message.includes(part), message)
    }
    return true
  })
  await assert.rejects(claim(first, other), ({ name, message }: Error) => {
    assert.equal(name, 'StartError')
    for (const part of [id, one.place, other.place]) assert.ok(message.includes(part), message)
    return true
  })
  await claim(second, other)
}

test('two databases on one folder of media, and one on two, are refused', async (t) => {
  await assertKeptApart(
    t,
    await openFolder(temporaryFolder(t)),
    await openFolder(temporaryFolder(t)),
  )
})

test('two databases on one bucket, and one on a bucket and a folder, are refused', async (t) => {
  const s3 = await startS3(t)
  Object.assign(process.env, s3.env)
  t.after(() => Object.keys(s3.env).forEach((name) => delete process.env[name]))
  await assertKeptApart(t, await openBucket(s3), await openFolder(temporaryFolder(t)))
})

test('a bucket that two installations claim belongs to the first', async (t) => {
  const s3 = await startS3(t)
  Object.assign(process.env, s3.env)
  t.after(() => Object.keys(s3.env).forEach((name) => delete process.env[name]))
  const [one, other] = [await openBucket(s3), await openBucket(s3)]
  assert.deepEqual([await one.owner(), await other.owner()], [undefined, undefined])
  await one.claim('inst_one')
  await other.claim('inst_other')
  assert.equal(await other.owner(), 'inst_one')
})

test('an installation keeps its id when its database moves to PostgreSQL and its media moves elsewhere', async (t) => {
  const [before, after] = [await newDatabase(t), await newDatabase(t, 'postgres')]
  const [from, to] = [temporaryFolder(t), temporaryFolder(t)]
  await claim(before, await openFolder(from))
  await copyDatabase(before, after)
  assert.equal(await idOf(after), await idOf(before))
  await claim(after, await openFolder(from))
  await cp(from, to, { recursive: true })
  await claim(after, await openFolder(to))
})

test('gateways that start at the same time on new media agree', async (t) => {
  const [store, folder] = [await newDatabase(t, 'postgres'), temporaryFolder(t)]
  const media = await openFolder(folder)
  await Promise.all(Array.from({ length: 8 }, () => claim(store, media)))
  assert.equal(
    (await readFile(join(folder, 'winnow-installation'), 'utf8')).trim(),
    await idOf(store),
  )
})

test('gateways that start on media, a broker or a database of others', async (t) => {
  const winnow = await startWinnow(t, { engines: 0 })
  const { gateway, folder } = winnow

  await t.test('SQLite: a second one waits for the first, and nothing is copied', async (t) => {
    const holder = `process ${gateway.child.pid} on ${hostname()}`
    const words = ['copy', '--to', 'postgres://nobody@127.0.0.1:1/none']
    const result = await runCommand(database, words, { env: { DATA_DIR: folder } })
    assert.equal(result.code, 1)
    assert.ok(result.errors.startsWith(`Another gateway works on ${folder} (${holder}). Stop `))

    const second = launchProgram('gateway/main.ts', { ...gateway.environment, PORT: '0' })
    t.after(() => second.end('SIGKILL'))
    const started = second.ready.then(() => assert.fail('it did not wait'))
    const isWaiting = () => second.log().includes('another gateway works on DATA_DIR')
    while (!isWaiting()) await Promise.race([started, sleep(50)])
    started.catch(() => undefined) // from now on it may start
    assert.ok(second.log().includes(holder), second.log())
    await gateway.end('SIGKILL')
    await second.ready
  })

  await t.test("another installation's broker or media end the start with a line", async (t) => {
    const ownId = (await readFile(join(folder, 'media', OWNER_KEY), 'utf8')).trim()
    const again = await winnow.startGateway() // the broker is its own, so it starts
    await again.end('SIGTERM')
    for (const suffix of ['', '-wal', '-shm'])
      await rm(join(folder, `winnow.db${suffix}`), { force: true })
    const other = await startNatsServer({ folder: temporaryFolder(t) })
    t.after(() => other.process.kill('SIGKILL'))
    for (const [env, sentence] of [
      [{}, `NATS_URL: the broker carries the jobs of installation ${ownId}, but`],
      [{ NATS_URL: other.url }, `holds the media of installation ${ownId}`],
    ] as const) {
      await assert.rejects(winnow.startGateway(env), ({ message }: Error) => {
        assert.ok(message.includes(sentence), message)
        assert.match(message, /"level":60/)
        assert.doesNotMatch(message, /\n\s+at /)
        return true
      })
    }
  })
})
