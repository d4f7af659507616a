/** Starts Podman or Docker with a store of its own, which is removed after the test. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { composeEnvironment } from './docker-compose.ts'

/**
 * Runs podman or docker, which take the same arguments; resolves with the standard output.
 * @throws Error with the output
 */
export type Containers = (...words: string[]) => Promise<string>

const DOCKER_MS_MAX = 60_000
const OUTPUT_BYTES_MAX = 2 ** 26

/**
 * Does without what a machine that is itself a container may lack: control groups, and the right to
 * raise limits.
 */
const SETTINGS = `[containers]
cgroups = "disabled"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
lock_type = "file"
`

/**
 * crun refuses to run where control groups of both versions are mounted, so it gets to see only
 * one.
 */
const NAMESPACE = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && echo ready && exec sleep infinity'

/**
 * Starts Podman, which requires root. Containers still left at the end are removed with their
 * mounts and volumes.
 */
export async function startPodman(t: TestContext): Promise<Containers> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-podman-'))
  const settings = join(folder, 'containers.conf')
  await writeFile(settings, SETTINGS)
  const holder = spawn('unshare', ['--mount', 'sh', '-c', NAMESPACE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(holder, 'exit')
  const enter = ['--target', String(holder.pid), '--mount', `--wdns=${process.cwd()}`]
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const podman: Containers = async (...words) => {
    const { stdout } = await promisify(execFile)(
      'nsenter',
      [...enter, 'podman', ...store, ...words],
      { env: { ...process.env, CONTAINERS_CONF: settings }, maxBuffer: OUTPUT_BYTES_MAX },
    )
    return stdout
  }
  t.after(async () => {
    await podman('rm', '--all', '--force', '--volumes').catch(() => '')
    holder.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await Promise.race([
    once(holder.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('there are no mount namespaces here'))),
  ])
  return podman
}

/**
 * Like `startPodman`, but with Compose and a Docker daemon of its own, whose bridge, docker0, is
 * left behind. Requires root.
 */
export async function startDocker(t: TestContext): Promise<Containers> {
  const env = { ...process.env, ...(await composeEnvironment()) }
  const folder = await mkdtemp(join(tmpdir(), 'winnow-docker-'))
  const address = `unix://${join(folder, 'docker.sock')}`
  const log = join(folder, 'log')
  const words = [
    ...['--host', address, '--pidfile', join(folder, 'pid')],
    ...['--data-root', join(folder, 'store'), '--exec-root', join(folder, 'run')],
  ]
  const daemon = spawn('sh', ['-c', 'exec dockerd "$@" 2>"$0"', log, ...words], { stdio: 'ignore' })
  const ended = once(daemon, 'exit')
  const docker: Containers = async (...args) => {
    const options = { env, maxBuffer: OUTPUT_BYTES_MAX }
    const { stdout } = await promisify(execFile)('docker', ['--host', address, ...args], options)
    return stdout
  }
  t.after(async () => {
    const left = await docker('ps', '--all', '--quiet').catch(() => '')
    await docker('rm', '--force', '--volumes', ...left.split('\n').filter(Boolean)).catch(() => '')
    daemon.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  const deadline = Date.now() + DOCKER_MS_MAX
  while (!(await docker('version').catch(() => ''))) {
    if (daemon.exitCode !== null || Date.now() > deadline) {
      throw new Error(`dockerd did not start:\n${(await readFile(log, 'utf8')).slice(-4_000)}`)
    }
    await sleep(200)
  }
  return docker
}
