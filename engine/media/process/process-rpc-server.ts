/** The child side of `limited-process.ts`: answers its calls, and ends with it. */

import { ServiceError } from '../../../shared/errors.ts'
import { isDiskFull, isOutOfMemory } from '../ffmpeg.ts'
import type { ErrorReport, ProcessAnswer, ProcessCall } from './limited-process.ts'

/** Answers every call with what `work` resolves to or throws, and passes on its reports. */
export function answerCalls<Task>(
  work: (task: Task, report: (value: unknown) => void) => Promise<unknown>,
): void {
  process.on('message', ({ id, task }: ProcessCall<Task>) => {
    work(task, (report) => send({ id, report })).then(
      (value) => send({ id, value }),
      (error: unknown) => {
        // The caller sees a crash, as it does when the kernel ends the process.
        if (isOutOfMemory(error)) process.exit(1)
        send({ id, error: reportOf(error) })
      },
    )
  })
  process.on('disconnect', () => process.exit())
  send({ ready: true })
}

function reportOf(error: unknown): ErrorReport {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof ServiceError ? { code: error.code } : {}
  return { message, ...code, isDiskFull: isDiskFull(error) }
}

/** If an answer cannot be sent, the engine has ended and nobody would read it. */
function send(answer: ProcessAnswer): void {
  process.send?.(answer, undefined, undefined, (error) => {
    if (error) process.exit()
  })
}
