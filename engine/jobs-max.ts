/** Decides how many jobs an engine holds at once: as many as fit its memory. */

import { totalmem } from 'node:os'

/** The allowed range of the setting. */
export const JOBS_MAX = { least: 1, most: 1_000 }

/**
 * Memory of an open job apart from the model: the process that reads its media, and its chunks in
 * flight. Half of the machine's memory is for jobs.
 */
const JOB_BYTES = 192 * 2 ** 20
/** With more jobs, each would get too small a share of the device to finish. */
const JOBS_AUTO_MAX = 32

/**
 * Parses the setting; `auto` goes by memory.
 * @throws Error saying what it must be
 */
export function parseJobsMax(text: string, memoryBytes = memoryOfProcess()): number {
  const jobs = Number(text)
  const { least, most } = JOBS_MAX
  if (text === 'auto') {
    return Math.max(4, Math.min(Math.floor(memoryBytes / 2 / JOB_BYTES), JOBS_AUTO_MAX))
  }
  if (Number.isInteger(jobs) && jobs >= least && jobs <= most) return jobs
  throw new Error(`must be auto or a whole number from ${least} to ${most}, not "${text}"`)
}

/** The limit of the process's control group, if that is below the machine's memory. */
const memoryOfProcess = (): number => Math.min(process.constrainedMemory() || Infinity, totalmem())
