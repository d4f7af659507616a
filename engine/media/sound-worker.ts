/** What runs in a process of `sound-process.ts`: reads one file at a time. */

import { answerCalls } from './answer-calls.ts'
import { type Mixture, openMixture } from './decode.ts'
import { measureSound } from './measure.ts'
import type { MixtureFacts, NextBlock, SoundTask } from './sound-process.ts'

let mixture: Mixture | null = null
let blocks: AsyncGenerator<Float32Array[]> | null = null

answerCalls<SoundTask>(async (task) => {
  if (task.do === 'measure') return measureSound(task.path, task)
  if (task.do === 'open') {
    mixture = await openMixture(task.path, task.limits)
    blocks = mixture.blocks()
    return { ...mixture } satisfies MixtureFacts // its own fields, without its methods
  }
  if (task.do === 'next') return next()
  await mixture?.close()
  mixture = blocks = null
})

async function next(): Promise<NextBlock> {
  const { value = null } = await blocks!.next()
  return { block: value, corruptPackets: mixture!.corruptPackets }
}
