/** Measures the CPU time and memory of processes, from Linux's `/proc`. */

import { readdirSync, readFileSync } from 'node:fs'

/** Unit of `/proc/<pid>/stat`: USER_HZ, 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
const SAMPLE_MS = 500

export interface Usage {
  /** Includes all descendants, also those that have ended. */
  cpuSeconds: number
  /** Peak of the sum; memory that processes share counts once (PSS). */
  peakBytes: number
}

/**
 * Starts measuring processes and their descendants; the returned function ends it. A process that
 * has ended counts as nothing.
 */
export function watchUsage(pids: readonly number[]): () => Usage {
  const before = cpuSecondsOf(pids)
  let peakBytes = memoryOf(pids)
  const measurePeak = () => {
    peakBytes = Math.max(peakBytes, memoryOf(pids))
  }
  const timer = setInterval(measurePeak, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    measurePeak()
    return { cpuSeconds: cpuSecondsOf(pids) - before, peakBytes }
  }
}

/** Returns a process's own seconds, and those of its descendants, including ended ones. */
export function cpuSeconds(pid: number): { own: number; children: number } {
  const { own, ended } = ticksOf(pid)
  return {
    own: own / TICKS_PER_SECOND,
    children: ended / TICKS_PER_SECOND + cpuSecondsOf(childrenOf(pid)),
  }
}

/** Returns the seconds of a process's first thread, which runs JavaScript. */
export function threadSeconds(pid: number): number {
  const [nanoseconds = ''] = read(`/proc/${pid}/task/${pid}/schedstat`).split(' ')
  return Number(nanoseconds) / 1e9
}

const cpuSecondsOf = (pids: readonly number[]): number =>
  pids.map(cpuSeconds).reduce((sum, { own, children }) => sum + own + children, 0)

const memoryOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const kibibytes = Number(/^Pss:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
    return sum + 1_024 * kibibytes + memoryOf(childrenOf(pid))
  }, 0)

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
