/**
 * Reads the processor time of this process's two threads that serve jobs, in seconds, from Linux.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { threadSeconds } from '../process-usage.ts'

const TASKS = '/proc/self/task'
/** The name that compute-worker.ts gives its thread. */
const COMPUTE_NAME = 'winnow-compute'

export function servingSeconds(): { compute: number; main: number } {
  const compute = readdirSync(TASKS).find(
    (task) => readFileSync(`${TASKS}/${task}/comm`, 'utf8').trim() === COMPUTE_NAME,
  )
  if (!compute) throw new Error(`there is no thread ${COMPUTE_NAME}`)
  return { compute: threadSeconds(process.pid, compute), main: threadSeconds(process.pid) }
}
