/** Starts an engine's compute thread, which hangs, in a process of its own; SIGTERM stops it. */

import { ComputeThread } from '../../../engine/compute/compute-thread.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'

const options = {
  models: [],
  textEncoderFolder: '',
  precision: 'float32' as const,
  batchFramesMax: 4_096,
  computeSecondsMax: Number(process.argv[2]),
}
const program = new URL('./hanging-worker.ts', import.meta.url)
const thread = await ComputeThread.start(options, createLogger('test', 'info'), program)
process.once('SIGTERM', () => void thread.stop())
await thread.discard(1)
