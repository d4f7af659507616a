/** Reads the processor time of processes from /proc. */

import { readdirSync, readFileSync } from 'node:fs'

/** Unit of the kernel's counts (USER_HZ), which is the same on x86-64 and arm64. */
const TICKS_PER_SECOND = 100

/** Returns a process's own seconds, and those of its descendants, including ended ones. */
export function processorSeconds(pid: number): { own: number; children: number } {
  const { own, ended } = ticksOf(pid)
  const living = childrenOf(pid).map((child) => {
    const seconds = processorSeconds(child)
    return seconds.own + seconds.children
  })
  return {
    own: own / TICKS_PER_SECOND,
    children: ended / TICKS_PER_SECOND + living.reduce((sum, seconds) => sum + seconds, 0),
  }
}

/**
 * Returns the seconds of one thread of a process, by default the first, which runs its JavaScript.
 */
export function threadSeconds(pid: number, thread: number | string = pid): number {
  const [nanoseconds = ''] = read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')
  return Number(nanoseconds) / 1e9
}

/** Returns the ticks of the process itself, and of its children that have ended. */
function ticksOf(pid: number): { own: number; ended: number } {
  const line = read(`/proc/${pid}/stat`)
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = line
    .slice(line.lastIndexOf(')') + 2) // the name before it may contain spaces
    .split(' ')
    .slice(11)
    .map(Number)
  return { own: user + system, ended: endedUser + endedSystem }
}

const childrenOf = (pid: number): number[] =>
  threadsOf(pid).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  )

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Returns the file's text; empty if the process has ended in the meantime. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
