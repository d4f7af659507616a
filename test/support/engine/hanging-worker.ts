/**
 * A compute worker that hangs in native code when it opens a lane, until standard input ends;
 * `terminate` can't interrupt it.
 */

import { execFileSync } from 'node:child_process'
import { parentPort } from 'node:worker_threads'

parentPort!.on('message', () => {
  execFileSync('sh', ['-c', 'echo hanging >&2; cat'], { stdio: ['inherit', 'ignore', 'inherit'] })
})
parentPort!.postMessage({ ready: {} })
