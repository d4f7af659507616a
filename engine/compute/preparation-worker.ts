/** Runs in a thread of `preparation.ts`: prepares one chunk after the other. */

import { parentPort } from 'node:worker_threads'
import { prepareChunk } from '../../models/prepare-chunk.ts'
import { memoryOf, type PreparationReply, type PreparationTask } from './preparation.ts'

if (!parentPort) throw new Error('preparation-worker.ts runs in a worker thread only')
const port = parentPort

port.on('message', ({ call, model, chunk: given }: PreparationTask) => {
  try {
    const chunk = prepareChunk(model, given)
    port.postMessage({ call, chunk } satisfies PreparationReply, memoryOf(chunk))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    port.postMessage({ call, error: message } satisfies PreparationReply)
  }
})
