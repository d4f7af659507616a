/** Runs in a `LimitedProcess` and does what native code may do with a damaged file. */

import { answerCalls } from '../../../engine/media/process/process-rpc-server.ts'

export type LimitedTask = 'answer' | 'crash' | 'fill' | 'hang' | 'die' | 'name' | 'pause'

answerCalls<LimitedTask>(async (task) => {
  if (task === 'crash') process.abort()
  if (task === 'die') process.kill(process.pid, 'SIGKILL')
  const filled: Buffer[] = []
  while (task === 'fill') filled.push(Buffer.alloc(2 ** 24, 1))
  while (task === 'hang');
  if (task === 'pause') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  if (task === 'name') return process.pid
  return task
})
