/** Runs in a thread of `preparation.ts` and prepares one chunk after another. */

import { prepareChunk } from '../../models/prepare-chunk.ts'
import { answerTasks } from '../threads/answer-tasks.ts'
import { memoryOf } from '../threads/task-thread.ts'
import type { PreparationTask } from './preparation.ts'

answerTasks<PreparationTask>(({ model, chunk: given }) => {
  const chunk = prepareChunk(model, given)
  return { value: chunk, transfer: memoryOf(chunk.channels) }
})
