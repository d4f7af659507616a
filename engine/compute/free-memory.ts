/** Finds out how much memory processes on this machine, or in this container, may still take. */

import { readFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { dirname, join } from 'node:path'

const CGROUPS = '/sys/fs/cgroup'

/**
 * Returns bytes. The page cache counts as free, because the kernel evicts it.
 * @param root of the control groups (version 2); without any, only the machine counts
 * @param own path of this process's group below `root`
 */
export function freeMemory(root = CGROUPS, own = ownCgroup()): number {
  const left = [freemem()]
  for (let path = own; path !== undefined; path = path === '/' ? undefined : dirname(path)) {
    left.push(leftIn(join(root, path)))
  }
  return Math.max(0, Math.min(...left))
}

/** Undefined without control groups of version 2. */
function ownCgroup(): string | undefined {
  return /^0::(\/.*)$/m.exec(readText('/proc/self/cgroup'))?.[1]
}

/** Infinity if the group has no limit. */
function leftIn(group: string): number {
  const limit = Number(readText(join(group, 'memory.max')) || Infinity) // "max" is NaN
  if (!Number.isFinite(limit)) return Infinity
  const files = readText(join(group, 'memory.stat')).matchAll(/^(?:in)?active_file (\d+)$/gm)
  const cached = [...files].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
  return limit - Number(readText(join(group, 'memory.current'))) + cached
}

/** Empty if there is no such file. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
