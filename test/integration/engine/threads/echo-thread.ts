/** A program for `TaskThread` that returns the planes it gets, and fails or exits on demand. */

import { answerTasks } from '../../../../engine/threads/answer-tasks.ts'
import { memoryOf } from '../../../../engine/threads/task-thread.ts'

export type EchoTask = { planes: Float32Array[] } | { code: unknown } | 'end'

answerTasks<EchoTask>((task) => {
  if (task === 'end') process.exit()
  if ('code' in task) throw Object.assign(new Error('refused'), task)
  return { value: task.planes, transfer: memoryOf(task.planes) }
})
