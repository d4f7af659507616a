/** An engine on the gateway's host receives and delivers files by name: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { COPY_NAME, FILES_HEADER, FOLDER_HEADER } from '../../shared/hand-over.ts'
import type { Job } from '../../shared/messages.ts'
import { ATTEMPT_HEADER, PLACE_HEADER } from '../../shared/output-places.ts'
import { temporaryFolder } from '../support/basics/temporary-folder.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  ATTEMPT_ID,
  FILE_BYTES,
  type Gateway,
  startGateway,
} from '../support/gateway/start-gateway.ts'

const FOLDER_NAME = 'job-1-aB9'
const FILE_NAME = `${FOLDER_NAME}/target`

/** Starts a gateway next to an engine that has started a job. */
async function start(t: TestContext) {
  const engineFolder = temporaryFolder(t)
  const folder = join(engineFolder, FOLDER_NAME)
  await mkdir(folder)
  await writeFile(join(folder, 'target'), 'a target')
  const gateway = await startGateway(t, { engineFolder })
  const requestId = await gateway.submitted()
  const job = gateway.broker.jobOf(requestId)
  return { gateway, requestId, job, folder, engineFolder }
}

const give = (gateway: Gateway, job: Job, files = `target=${FILE_NAME}`, attempt = ATTEMPT_ID) =>
  gateway.call('POST', job.hand_over_url!, {
    headers: { [FILES_HEADER]: files, [ATTEMPT_HEADER]: attempt },
  })

const fetchTo = (gateway: Gateway, job: Job, name: string = FOLDER_NAME) =>
  gateway.call('GET', job.source.url, { headers: { [FOLDER_HEADER]: name } })

const pathOf = ({ folder }: Gateway, requestId: string): string =>
  join(folder, 'media', 'outputs', requestId, ATTEMPT_ID, 'target')

/** Lists stored files that have no place yet. */
const staged = ({ folder }: Gateway) => readdir(join(folder, 'media', '.new'))

test('7 the gateway keeps the file that the engine made, readable only by itself', async (t) => {
  const { gateway, requestId, job, folder, engineFolder } = await start(t)
  assert.equal(job.shared_folder, engineFolder)
  const reply = await give(gateway, job)
  assert.deepEqual([reply.statusCode, reply.headers[PLACE_HEADER]], [204, ATTEMPT_ID])
  const [made, kept] = await Promise.all(
    [join(folder, 'target'), pathOf(gateway, requestId)].map((path) => stat(path)),
  )
  assert.equal(kept!.ino, made!.ino)
  assert.equal(kept!.mode & 0o777, 0o600)
  await rm(folder, { recursive: true })
  assert.equal(await readFile(pathOf(gateway, requestId), 'utf8'), 'a target')
  assert.deepEqual(await staged(gateway), [])
})

test('7 all outputs are handed over in one call, or none of them', async (t) => {
  const { gateway, requestId, job, folder } = await start(t)
  const files = `target=${FILE_NAME},residual=${FOLDER_NAME}/residual`
  assertError(await give(gateway, job, files), 'NOT_FOUND')
  await assert.rejects(stat(pathOf(gateway, requestId)))
  assert.deepEqual(await staged(gateway), [])
  await writeFile(join(folder, 'residual'), 'a residual')
  for (const again of [1, 2]) {
    assert.equal((await give(gateway, job, files)).statusCode, 204, `${again}`)
    assert.deepEqual(await readdir(join(pathOf(gateway, requestId), '..')), ['residual', 'target'])
  }
  assert.deepEqual(await staged(gateway), [])
})

test('7 outputs handed over while another attempt completes are removed', async (t) => {
  const { gateway, requestId, job } = await start(t)
  const { mediaStore } = gateway.deps
  const adopt = mediaStore.kind === 'local disk' && mediaStore.adopt.bind(mediaStore)
  assert.ok(adopt)
  Object.assign(mediaStore, {
    adopt: async (names: ReadonlyMap<string, string>) => {
      const files = (await adopt(names))!
      const place = async (key: string) => {
        await files.place(key)
        await gateway.complete(requestId)
      }
      return { ...files, place }
    },
  })
  assertError(await give(gateway, job, undefined, 'late'), 'REQUEST_FINISHED')
  const kept = await readdir(join(gateway.folder, 'media', 'outputs', requestId))
  assert.deepEqual(kept, [ATTEMPT_ID])
})

test('7 outputs are handed over only at the address for it, and only until the request ends', async (t) => {
  const { gateway, requestId, job } = await start(t)
  const headers = { [FILES_HEADER]: `target=${FILE_NAME}`, [ATTEMPT_HEADER]: ATTEMPT_ID }
  const forged = job.upload_urls.target!.replace('/target', '')
  assertError(await gateway.call('POST', forged, { headers }), 'PERMISSION_DENIED')
  await gateway.complete(requestId)
  assertError(await give(gateway, job), 'REQUEST_FINISHED')
  assert.equal(await readFile(pathOf(gateway, requestId), 'utf8'), 'target')
  assert.deepEqual(await staged(gateway), [])
})

test('7 only a valid list of files in the shared folder is accepted', async (t) => {
  const { gateway, requestId, job, folder } = await start(t)
  await writeFile(join(folder, '..', '..', 'outside-of-it'), 'secret')
  t.after(() => rm(join(folder, '..', '..', 'outside-of-it')))
  await symlink(join(folder, 'target'), join(folder, 'link'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const paths = ['none', 'link', 'pipe'].map((name) => `${FOLDER_NAME}/${name}`)
  for (const path of [...paths, FOLDER_NAME]) {
    assertError(await give(gateway, job, `target=${path}`), 'NOT_FOUND')
  }
  for (const path of ['../../outside-of-it', '.', '']) {
    const files = `target=${FOLDER_NAME}/${path}`
    assertError(await give(gateway, job, files), 'INVALID_REQUEST')
  }
  const wrong = [`other=${FILE_NAME}`, `target/x=${FILE_NAME}`, `target=${FILE_NAME},`]
  for (const files of ['', FILE_NAME, ...wrong]) {
    assertError(await give(gateway, job, files), 'INVALID_REQUEST')
  }
  for (const attempt of ['', '../other']) {
    assertError(await give(gateway, job, undefined, attempt), 'INVALID_REQUEST')
  }
  await assert.rejects(stat(pathOf(gateway, requestId)))
  assert.deepEqual(await staged(gateway), [])
})

test("7 a source is copied into the job's folder, and sent if it can't be; no file is replaced", async (t) => {
  const { gateway, job, folder } = await start(t)
  for (const name of ['job-1-none', '..', '']) {
    assert.deepEqual((await fetchTo(gateway, job, name)).rawPayload, FILE_BYTES, name)
  }
  const reply = await fetchTo(gateway, job)
  assert.equal(reply.statusCode, 204, reply.body)
  assert.deepEqual(await readFile(join(folder, COPY_NAME)), FILE_BYTES)
  await writeFile(join(folder, COPY_NAME), 'other')
  assert.deepEqual((await gateway.call('GET', job.source.url)).rawPayload, FILE_BYTES)
  assert.deepEqual((await fetchTo(gateway, job)).rawPayload, FILE_BYTES)
  assert.equal(await readFile(join(folder, COPY_NAME), 'utf8'), 'other')
})

test('7 without an engine on its host a gateway receives and sends bytes', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const job = gateway.broker.jobOf(requestId)
  assert.deepEqual([job.shared_folder, job.hand_over_url], [undefined, undefined])
  assert.deepEqual((await fetchTo(gateway, job)).rawPayload, FILE_BYTES)
})
