/**
 * Measures the processor time and memory of processes and their descendants, from Linux's `/proc`.
 */

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

/** Starts measuring; the returned function ends it. A process that has ended counts as nothing. */
export function watchUsage(pids: readonly number[]): () => Usage {
  const before = cpuSecondsOf(familyOf(pids))
  let peakBytes = memoryOf(familyOf(pids))
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, memoryOf(familyOf(pids)))
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    const family = familyOf(pids)
    peakBytes = Math.max(peakBytes, memoryOf(family))
    return { cpuSeconds: cpuSecondsOf(family) - before, peakBytes }
  }
}

interface ProcessState {
  parent: number
  cpuSeconds: number
}

/** The processes and all that descend from them, with their processor time. */
function familyOf(pids: readonly number[]): Map<number, ProcessState> {
  const all = new Map<number, ProcessState>()
  for (const name of readdirSync('/proc')) {
    const state = /^\d+$/.test(name) ? readState(name) : null
    if (state) all.set(Number(name), state)
  }
  const family = new Map<number, ProcessState>()
  let added = pids.filter((pid) => all.has(pid))
  while (added.length > 0) {
    for (const pid of added) family.set(pid, all.get(pid)!)
    added = [...all].flatMap(([pid, { parent }]) =>
      family.has(parent) && !family.has(pid) ? [pid] : [],
    )
  }
  return family
}

/** Null of a process that has ended meanwhile. */
function readState(pid: string): ProcessState | null {
  const text = readOrNull(`/proc/${pid}/stat`)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // from the state, field 3, on
  const [user, system, ofChildren, systemOfChildren] = fields.slice(11, 15).map(Number)
  const ticks = user! + system! + ofChildren! + systemOfChildren!
  return { parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND }
}

const cpuSecondsOf = (family: ReadonlyMap<number, ProcessState>): number =>
  [...family.values()].reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)

function memoryOf(family: ReadonlyMap<number, ProcessState>): number {
  return [...family.keys()].reduce((sum, pid) => {
    const text = readOrNull(`/proc/${pid}/smaps_rollup`)
    const kibibytes = Number(/^Pss:\s+(\d+) kB$/m.exec(text ?? '')?.[1] ?? 0)
    return sum + 1_024 * kibibytes
  }, 0)
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
