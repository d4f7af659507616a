/** Podman, with a store of its own that ends with the test. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

/** Runs podman with these words; resolves with its standard output. @throws Error with what it said */
export type Podman = (...words: string[]) => Promise<string>

/** What a machine that is itself a container may lack: control groups, and rights to raise limits. */
const SETTINGS = `[containers]
cgroups = "disabled"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
lock_type = "file"
`

/** Where control groups of both versions are mounted, crun refuses to run; it sees one alone here. */
const NAMESPACE = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && echo ready && exec sleep infinity'

/** Needs root. Containers that are left are removed at the end, with their mounts and volumes. */
export async function startPodman(t: TestContext): Promise<Podman> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-podman-'))
  const settings = join(folder, 'containers.conf')
  await writeFile(settings, SETTINGS)
  const holder = spawn('unshare', ['--mount', 'sh', '-c', NAMESPACE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(holder, 'exit')
  const enter = ['--target', String(holder.pid), '--mount', `--wdns=${process.cwd()}`]
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const podman: Podman = async (...words) => {
    const { stdout } = await promisify(execFile)(
      'nsenter',
      [...enter, 'podman', ...store, ...words],
      { env: { ...process.env, CONTAINERS_CONF: settings }, maxBuffer: 2 ** 26 },
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
