/** Processor time of this process's two threads that serve jobs, in seconds, from Linux. */
import { readdirSync, readFileSync } from 'node:fs'

const TASKS = '/proc/self/task'
/** As compute-worker.ts names its thread. */
const COMPUTE_NAME = 'winnow-compute'

export function threadSeconds(): { compute: number; main: number } {
  const compute = readdirSync(TASKS).find(
    (task) => readFileSync(`${TASKS}/${task}/comm`, 'utf8').trim() === COMPUTE_NAME,
  )
  if (!compute) throw new Error(`there is no thread ${COMPUTE_NAME}`)
  return { compute: secondsOf(compute), main: secondsOf(String(process.pid)) }
}

function secondsOf(task: string): number {
  const [nanoseconds = ''] = readFileSync(`${TASKS}/${task}/schedstat`, 'utf8').split(' ')
  return Number(nanoseconds) / 1e9
}
