/** Gives a `LimitedProcess` a task that never ends, and prints its process id. */

import { setTimeout as sleep } from 'node:timers/promises'
import { LimitedProcess } from '../../../engine/media/process/limited-process.ts'
import type { LimitedTask } from './limited-program.ts'

const PROGRAM = new URL('limited-program.ts', import.meta.url)

const limited = new LimitedProcess<LimitedTask>(
  PROGRAM,
  { bytesMax: 2 ** 29, secondsMax: 600, niceness: 0 },
  {},
)
const name = await limited.call('name')
const work = limited.call('hang')
await sleep(500) // long enough for the work to start
console.log(name)
await work
