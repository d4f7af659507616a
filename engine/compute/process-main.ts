/**
 * A process of compute-process.ts: its main thread hands messages on to a thread that computes, so
 * that it sees the end of the engine while that is in native code.
 */

import { setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { threadProgram } from '../../shared/process/programs.ts'
import type { FromWorker, ToWorker, WorkerOptions } from './compute-messages.ts'

/** Behind the engine's own thread, whose steps are short. Threads have that of their maker. */
const NICENESS = 5

// Signals to a whole group of processes are for the engine, which ends this one in its turn.
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
