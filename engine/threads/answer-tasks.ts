/** The worker side of `task-thread.ts`. */

import { parentPort } from 'node:worker_threads'
import type { ThreadAnswer, ThreadError, ThreadTask } from './task-thread.ts'

interface TaskResult {
  value?: unknown
  /** Memory of the value that is transferred to the caller. */
  transfer?: readonly ArrayBuffer[]
}

/** Answers every task with what `work` resolves to or throws. */
export function answerTasks<Task>(work: (task: Task) => TaskResult | Promise<TaskResult>): void {
  if (!parentPort) throw new Error('this program runs in a worker thread only')
  const port = parentPort
  const send = (answer: ThreadAnswer, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(answer, transfer)
  const answer = async ({ call, task }: ThreadTask<Task>) => {
    try {
      const { value, transfer } = await work(task)
      send({ call, value }, transfer)
    } catch (error) {
      send({ call, error: reportOf(error) })
    }
  }
  port.on('message', (task: ThreadTask<Task>) => void answer(task))
}

function reportOf(error: unknown): ThreadError {
  if (!(error instanceof Error)) return { message: String(error) }
  const { message, code } = error as Error & { code?: unknown }
  return { message, code }
}
