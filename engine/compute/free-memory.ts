/** Memory that processes of this machine, or container, may still take. */

import { readFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { dirname, join } from 'node:path'

const CGROUPS = '/sys/fs/cgroup'

/**
 * Bytes; what lies in caches of files counts as free, since it makes room.
 * @param root of the control groups (version 2); without any, only the machine counts
 * @param own path of this process's group in it
 */
export function freeMemory(root = CGROUPS, own = ownCgroup()): number {
  const left = [freemem()]
  for (let path = own; path !== undefined; path = path === '/' ? undefined : dirname(path)) {
    left.push(leftIn(join(root, path)))
  }
  return Math.max(0, Math.min(...left))
}

/** Undefined where control groups are of another version, or there are none. */
function ownCgroup(): string | undefined {
  return /^0::(\/.*)$/m.exec(textOf('/proc/self/cgroup'))?.[1]
}

/** Infinity where the group has no limit. */
function leftIn(group: string): number {
  const limit = Number(textOf(join(group, 'memory.max')) || Infinity) // "max" is NaN
  if (!Number.isFinite(limit)) return Infinity
  const files = textOf(join(group, 'memory.stat')).matchAll(/^(?:in)?active_file (\d+)$/gm)
  const cached = [...files].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
  return limit - Number(textOf(join(group, 'memory.current'))) + cached
}

/** Empty where there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
