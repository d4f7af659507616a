/** Runs in a process of `sound-process.ts` and reads one file at a time. */

import { writevSync } from 'node:fs'
import { answerCalls } from './process-rpc-server.ts'
import { mixtureOf, openMixture } from '../read/decode.ts'
import { lfeHasFullRange } from '../read/lfe-range.ts'
import { levelsOf } from '../read/levels.ts'
import type { Mixture, MixtureLimits } from '../read/mixture.ts'
import { MEMORY } from './limited-process.ts'
import { type MeasureOptions, secondsOf } from '../read/measure.ts'
import { openSound, type OpenSound } from '../read/open-sound.ts'
import type { MixtureFacts, NextBlock, SoundTask } from './sound-process.ts'

/** Functions cannot be sent. */
const NO_METHODS = { blocks: undefined, close: undefined }

/** A file that was measured and is to be decoded. */
let sound: OpenSound | null = null
let mixture: Mixture | null = null
let blocks: AsyncGenerator<Float32Array[]> | null = null

answerCalls<SoundTask>(async (task) => {
  if (task.do === 'measure') return measure(task.path, task)
  if (task.do === 'open') return open(task.path, task.limits)
  if (task.do === 'judgeLfe') return again(task, lfeHasFullRange)
  if (task.do === 'measureLevels') return again(task, levelsOf)
  if (task.do === 'next') return next()
  return close()
})

async function measure(
  path: string,
  { secondsMax, track }: MeasureOptions,
): Promise<number | null> {
  sound = await openSound(path, track)
  const seconds = await secondsOf(sound, secondsMax)
  if (sound.reader.packets.areMissing) await close()
  return seconds
}

async function open(path: string, limits: MixtureLimits): Promise<MixtureFacts> {
  const opened = sound ?? (await openSound(path, limits.track))
  sound = null
  mixture = await mixtureOf(opened, limits)
  blocks = mixture.blocks()
  return { ...mixture, ...NO_METHODS }
}

/** Returns the result of `judge` for the file, which is opened once more. */
async function again<T>(
  { path, limits }: { path: string; limits: MixtureLimits },
  judge: (mixture: Mixture) => Promise<T>,
): Promise<T> {
  const opened = await openMixture(path, limits)
  try {
    return await judge(opened)
  } finally {
    await opened.close()
  }
}

async function next(): Promise<NextBlock> {
  const { value: block } = await blocks!.next()
  if (block) writevSync(MEMORY, block, 0)
  const { corruptPackets, remarks } = mixture!
  return { samples: block?.[0]?.length ?? 0, corruptPackets, remarks }
}

async function close(): Promise<void> {
  const files = [sound, mixture]
  sound = mixture = blocks = null
  for (const file of files) await file?.close()
}
