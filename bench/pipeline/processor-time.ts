/** Processor time of other processes, from /proc. */

import { readdirSync, readFileSync } from 'node:fs'

/** Unit of the kernel's counts: the same on every x86-64 and arm64. */
const TICKS_PER_SECOND = 100

/** Seconds of a process: its own, and those of its children, ended ones included. */
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

/** Seconds of one of a process's threads: the first, which runs its JavaScript, unless named. */
export function threadSeconds(pid: number, thread: number | string = pid): number {
  const [nanoseconds = ''] = read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')
  return Number(nanoseconds) / 1e9
}

/** Ticks of the process itself, and of its children that have ended. */
function ticksOf(pid: number): { own: number; ended: number } {
  const line = read(`/proc/${pid}/stat`)
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = line
    .slice(line.lastIndexOf(')') + 2) // its name may have spaces
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

/** Empty where the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
