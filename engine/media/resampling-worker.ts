/** Runs in a thread of `resampling-threads.ts` and resamples several streams in turn. */

import { answerTasks } from '../threads/answer-tasks.ts'
import { memoryOf, ThreadLostError } from '../threads/task-thread.ts'
import { Resampler } from './resampler.ts'
import type { ResamplingTask } from './resampling-threads.ts'

const streams = new Map<number, Resampler>()

answerTasks<ResamplingTask>((task) => {
  const blocks = answer(task)
  return { value: blocks, transfer: blocks?.flatMap(memoryOf) }
})

function answer(task: ResamplingTask): Float32Array[][] | undefined {
  if (task.do === 'open') {
    streams.set(task.stream, new Resampler(task.options))
    return
  }
  const resampler = streams.get(task.stream)
  if (task.do === 'close') {
    streams.delete(task.stream)
    resampler?.close()
    return
  }
  if (!resampler) throw new ThreadLostError('a resampler was lost with its thread')
  return task.do === 'add' ? resampler.add(task.block) : resampler.finish()
}
