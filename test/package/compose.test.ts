/**
 * The whole of compose.yaml: the image is built from its Dockerfile, the services become healthy, a file
 * is separated, an engine restarts during a request, and everything goes down and up again. Then the
 * image alone, with Docker and with Podman: it runs as documented, refuses a second container on its
 * volume, stops during a request, and starts again. It takes minutes, so only
 * `npm test -- test/package` runs it.
 */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Client } from '../../clients/typescript/node.ts'
import { assertProgram } from '../support/machine/debian-package.ts'
import { startDocker, startPodman, type Containers } from '../support/machine/start-containers.ts'
import { examplePath, readWav16, SUM_ERROR_MAX, sumError } from '../support/media/examples.ts'
import { readWav24 } from '../support/media/wav.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { loadBaseImage } from './base-image.ts'

/** A limit for the slowest machine: without it, waiting in vain would never fail the test. */
const MS_MAX = 3_600_000
const PROGRAMS = {
  mmdebstrap: 'mmdebstrap',
  podman: 'podman',
  catatonit: 'catatonit', // for Podman's --init
  docker: 'docker.io',
  dockerd: 'docker.io',
}
const SOURCE = examplePath('speech-over-piano.wav')
const CHECK = [
  'node',
  '--eval',
  "process.exit((await fetch('http://127.0.0.1:8080/readyz')).ok ? 0 : 1)",
]

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-image-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const readVersion = async (): Promise<string> =>
  (JSON.parse(await readFile('package.json', 'utf8')) as { version: string }).version

async function assertBillOfMaterials(engine: Containers, image: string): Promise<void> {
  const text = await engine('run', '--rm', '--entrypoint', 'cat', image, BILL_PATH)
  const bill = JSON.parse(text) as { components: { purl: string }[] }
  for (const part of ['pkg:deb/debian/libc6@', 'pkg:npm/fastify@', 'pkg:pypi/tensorflow-cpu@']) {
    assert.ok(
      bill.components.some(({ purl }) => purl.startsWith(part)),
      part,
    )
  }
}

const BILL_PATH = '/usr/lib/winnow/winnow.cdx.json'

/** Polls the image's own health check, which Docker runs rarely and Podman never. */
async function untilHealthy(engine: Containers): Promise<void> {
  const isHealthy = () =>
    engine('exec', 'winnow', ...CHECK).then(
      () => true,
      () => false,
    )
  while (!(await isHealthy())) {
    const running = await engine('inspect', '--format', '{{.State.Running}}', 'winnow')
    assert.equal(running.trim(), 'true', await engine('logs', 'winnow'))
    await sleep(500)
  }
}

/** Submits the example; returns the request's id, for `assertServed` to check its outputs. */
async function submit(client: Client): Promise<string> {
  const fileId = await client.upload(SOURCE, 'audio/wav')
  return (await client.submit({ input: { prompt: 'piano', file_id: fileId } })).request_id
}

async function assertServed(t: TestContext, client: Client, request: string): Promise<void> {
  const folder = await makeFolder(t)
  const { data } = await client.wait(request)
  const [target, residual] = await Promise.all(
    [data.target, data.residual].map(async ({ url }, i) => {
      await client.download(url, join(folder, `${i}.wav`))
      return readWav24(await readFile(join(folder, `${i}.wav`)))
    }),
  )
  assert.ok(sumError(target!.planes, residual!.planes, await readWav16(SOURCE)) <= SUM_ERROR_MAX)
}

/** Asserts that a second container on the volume exits, and names the container that has it. */
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

async function assertRuns(t: TestContext, engine: Containers, image: string): Promise<void> {
  const [port] = await freePorts(1)
  const baseUrl = `http://127.0.0.1:${port}`
  await engine(
    ...['run', '--detach', '--init', '--publish', `127.0.0.1:${port}:8080`],
    ...['--env', `PUBLIC_URL=${baseUrl}`],
    ...['--volume', 'winnow:/var/lib/winnow', '--stop-timeout', '600'],
    ...['--name', 'winnow', image],
  )
  await untilHealthy(engine)
  assert.match(await engine('exec', 'winnow', 'cat', '/proc/1/status'), /^Uid:\t[1-9]/m)
  await engine('exec', 'winnow', 'sh', '-c', 'touch "$DATA_DIR/mine" "$WINNOW_CACHE_DIR/mine"')
  const doctor = ['sh', '-c', 'winnow doctor --json || [ $? -eq 1 ]'] // exit code 1: there are warnings
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
  await untilHealthy(engine)
  for (const request of [finished, unfinished]) await assertServed(t, client, request)
}

/** Returns the commands of docs/how-to/compose.md, on a free port. */
async function startCompose(t: TestContext, docker: Containers) {
  const [port] = await freePorts(1)
  const settings = join(await makeFolder(t), '.env')
  await writeFile(settings, `PORT=${port}\n`)
  const compose: Containers = (...words) => docker('compose', '--env-file', settings, ...words)
  return { compose, baseUrl: `http://127.0.0.1:${port}` }
}

async function assertComposes(t: TestContext, docker: Containers): Promise<void> {
  const { compose, baseUrl } = await startCompose(t, docker)
  const exec = async (service: string, ...words: string[]) =>
    (await compose('exec', '--no-TTY', service, ...words)).trim()
  const up = () => compose('up', '--detach', '--wait')
  try {
    await up()
    const apiKey = await exec('gateway', 'cat', 'api-key')
    const client = createClient({ baseUrl, apiKey })
    await assertPage(await exec('gateway', 'winnow', 'open'), baseUrl)
    await assertFleet(baseUrl, await exec('gateway', 'cat', 'admin-token'))
    assert.equal(await exec('engine', 'ls', 'credentials'), 'winnow_NATS_URL')
    const finished = await submit(client)
    await assertServed(t, client, finished)

    const unfinished = await submit(client)
    await compose('restart', 'engine')
    await assertServed(t, client, unfinished)
    await compose('down')
    assert.equal((await compose('ps', '--all', '--quiet')).trim(), '')
    await up()
    assert.equal(await exec('gateway', 'cat', 'api-key'), apiKey)
    for (const request of [finished, unfinished]) await assertServed(t, client, request)
    await assertServed(t, client, await submit(client))
  } catch (error) {
    t.diagnostic(await compose('logs', '--no-color', '--tail', '50'))
    throw error
  } finally {
    await compose('down', '--volumes')
  }
}

/** Asserts that `winnow open` prints an address for browsers outside, whose code signs in. */
async function assertPage(printed: string, baseUrl: string): Promise<void> {
  const [, address, code] = /^(.+)\/#code=([0-9a-f]{64})$/m.exec(printed) ?? []
  assert.equal(address, baseUrl)
  assert.match(await (await fetch(`${baseUrl}/`)).text(), /<title>Winnow/)
  const reply = await fetch(`${baseUrl}/playground/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  assert.equal(reply.status, 201)
}

/** Waits until the gateway has reached the engine at its gRPC address. */
async function assertFleet(baseUrl: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  for (;;) {
    const reply = await fetch(`${baseUrl}/admin/fleet`, { headers })
    assert.equal(reply.status, 200)
    const { engines } = (await reply.json()) as { engines: { state?: string }[] }
    if (engines.length === 1) return
    await sleep(500)
  }
}

test('compose.yaml and its image', { timeout: MS_MAX }, async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can run a container this way')
  for (const [program, packageName] of Object.entries(PROGRAMS)) {
    assertProgram(program, packageName)
  }
  const image = `winnow:${await readVersion()}`
  const docker = await startDocker(t)
  await loadBaseImage(t, docker)
  await docker('compose', '--progress', 'plain', 'build', 'gateway')
  await assertBillOfMaterials(docker, image)

  await t.test('runs in Compose', (t) => assertComposes(t, docker))
  await t.test('the image runs in Docker, which checks its health', async (t) => {
    await assertRuns(t, docker, image)
    const health = () => docker('inspect', '--format', '{{.State.Health.Status}}', 'winnow')
    while ((await health()).trim() !== 'healthy') await sleep(500)
  })
  await t.test('the image runs in Podman', async (t) => {
    const archive = join(await makeFolder(t), 'image.tar')
    await docker('save', '--output', archive, image)
    const podman = await startPodman(t)
    await podman('load', '--input', archive)
    await assertRuns(t, podman, image)
  })
})
