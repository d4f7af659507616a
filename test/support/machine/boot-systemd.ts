/** Boots the machine's own systemd in namespaces, next to the running one. */

import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SCRIPT = fileURLToPath(new URL('boot-systemd.sh', import.meta.url))
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
const SYSTEMD = '/lib/systemd/systemd'
const BOOT_MS_MAX = 60_000

export interface Host {
  /** Prefix that makes a command line run in the host. */
  enter: readonly string[]
  /**
   * Runs a command in the host and resolves with its standard output.
   * @throws Error with the output
   */
  run(...words: string[]): Promise<string>
  /** Runs one of our commands, such as `doctor`, likewise. */
  winnow(...words: string[]): Promise<string>
}

/** Returns why this machine can't boot another systemd; undefined if it can. */
export function whyNoSystemd(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make the namespaces'
  if (!existsSync(SYSTEMD)) return 'there is no systemd: apt-get install systemd'
  const { status, stderr } = spawnSync('unshare', [
    ...['--pid', '--fork', '--mount', '--uts', '--ipc', '--net', '--cgroup'],
    ...['sh', '-c', 'mount -t tmpfs tmpfs /mnt && mount -t cgroup2 cgroup2 /mnt'],
  ])
  return status === 0 ? undefined : `namespaces can't be made here: ${String(stderr).trim()}`
}

/** Boots the host; everything is cleaned up after the test. */
export async function bootSystemd(t: TestContext): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-boot-'))
  const child = spawn('sh', [SCRIPT, CHECKOUT, folder], {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString()
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    await removeGroups(child.pid!)
    await rm(folder, { recursive: true }) // its mounts disappeared with their namespace
  })
  const deadline = Date.now() + BOOT_MS_MAX
  for (;;) {
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(
      () => '',
    )
    const enter = ['nsenter', '--target', children.trim(), '--all', '--wdns=/opt/winnow']
    const run = (...words: string[]) => runIn(enter, words)
    const winnow = (...words: string[]) =>
      run('node', 'scripts/run.mjs', 'scripts/cli/main.ts', ...words)
    const host = { enter, run, winnow }
    if (children && (await host.run('systemctl', 'is-active', 'default.target').catch(() => '')))
      return host
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`systemd did not boot: ${errors}`)
    await sleep(100)
  }
}

/** Writes a file in the host, creating the folders above it. */
export async function writeIn(
  { enter }: Host,
  path: string,
  bytes: string | Uint8Array,
): Promise<void> {
  const [command = '', ...words] = enter
  const child = spawn(command, [
    ...words,
    'sh',
    '-c',
    `mkdir -p "$(dirname ${path})"; cat >${path}`,
  ])
  child.stdin.end(bytes)
  const [code] = (await once(child, 'exit')) as [number]
  if (code !== 0) throw new Error(`${path} can't be written`)
}

/** Runs a command with the host's own environment, free of the test's NODE_OPTIONS. */
async function runIn(enter: readonly string[], words: string[]): Promise<string> {
  const [command = '', ...rest] = [...enter, ...words]
  const env = { PATH: process.env.PATH, HOME: '/root' }
  const { stdout } = await promisify(execFile)(command, rest, { env, maxBuffer: 64 * 2 ** 20 })
  return stdout
}

/** Removes the control groups, which stay busy for a moment after their processes have exited. */
async function removeGroups(pid: number): Promise<void> {
  const all = '/sys/fs/cgroup'
  const group = [all, join(all, 'unified')]
    .map((folder) => join(folder, `winnow-test-${pid}`))
    .find((folder) => existsSync(folder))
  while (group && existsSync(group)) {
    try {
      removeTree(group)
    } catch {
      await sleep(100)
    }
  }
}

function removeTree(group: string): void {
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(group, entry.name))
  }
  rmdirSync(group)
}
