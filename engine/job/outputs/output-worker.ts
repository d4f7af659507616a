/** Runs in a thread of `output-threads.ts` and writes the sound of several jobs in turn. */

import { answerTasks } from '../../threads/answer-tasks.ts'
import { ThreadLostError } from '../../threads/task-thread.ts'
import { OutputSounds } from './output-sounds.ts'
import type { OutputTask } from './output-threads.ts'

const jobs = new Map<number, OutputSounds>()

answerTasks<OutputTask>(async (task) => ({ value: await answer(task) }))

async function answer(task: OutputTask): Promise<unknown> {
  if (task.do === 'open') {
    const sounds = await OutputSounds.open(task.options)
    jobs.set(task.job, sounds)
    return sounds.format
  }
  const sounds = jobs.get(task.job)
  if (task.do === 'abort') {
    jobs.delete(task.job)
    return sounds?.abort()
  }
  if (!sounds) throw new ThreadLostError('the outputs were lost with their thread')
  if (task.do === 'write') return sounds.write(task.separated)
  const finished = await sounds.finish()
  jobs.delete(task.job)
  return finished
}
