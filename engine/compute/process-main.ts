/**
 * The main program of compute-process.ts. Its main thread only passes messages to a computing
 * thread, so that it notices the end of the engine even while native code runs.
 */

import { setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { threadProgram } from '../../shared/process/programs.ts'
import type { FromWorker, ToWorker, WorkerOptions } from './compute-messages.ts'

/** Lower priority than the engine's own thread, whose steps are short. Threads inherit this. */
const NICENESS = 5

// A signal to the process group is meant for the engine, which then ends this process.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
setPriority(NICENESS)
process.once('message', begin)

function begin(workerData: WorkerOptions): void {
  const program = new URL('./compute-worker.ts', import.meta.url)
  const worker = new Worker(threadProgram(program), { eval: true, workerData })
  let failed: string | undefined
  process.on('message', (message: ToWorker) => worker.postMessage(message))
  worker.on('message', (message: FromWorker) => say(message))
  worker.on('error', ({ message }) => (failed = message))
  worker.on('exit', (code) =>
    say({ failed: failed ?? `its thread ended with ${code}` }, () => process.exit(1)),
  )
}

function say(message: FromWorker, sent = () => {}): void {
  process.send!(message, undefined, undefined, sent)
}
