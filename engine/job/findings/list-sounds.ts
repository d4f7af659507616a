/**
 * The core of a job that asks what is in the media: takes a mixture, and returns the list of its
 * sounds.
 */

import { laneOwnerOf } from '../lane-owner.ts'
import type { TaggerConfig } from '../../../models/tagger/config.ts'
import type { HeardSound } from '../../../shared/heard-sounds.ts'
import type { Job } from '../../../shared/messages.ts'
import type { Scheduler } from '../../compute/scheduler.ts'
import type { ResamplingThreads } from '../../media/resampling-threads.ts'
import type { Mixture } from '../../media/read/mixture.ts'
import { heardSounds } from './heard-sounds.ts'
import { TagPass } from './tag-pass.ts'
import { TaggedFile } from './tagged-file.ts'

interface ListingDeps {
  scheduler: Pick<Scheduler, 'separate'>
  resampling: Pick<ResamplingThreads, 'open'>
  /** Null if the engine has none; then it gets no jobs that ask for a list. */
  tagger: TaggerConfig | null
  signal: AbortSignal
  /** Length of the mixture in seconds as far as it is known before decoding; 0 if unknown. */
  secondsExpected: number
  /** From 0 to 1. */
  onProgress(progress: number): void
}

/** @throws whatever decoding or the tagger throws */
export async function listSounds(
  job: Job,
  mixture: Mixture,
  { scheduler, resampling, tagger, signal, secondsExpected, onProgress }: ListingDeps,
): Promise<{ seconds: number; sounds: HeardSound[] }> {
  if (!tagger) throw new Error('the engine has no tagger')
  const stop = new AbortController()
  const pass = new TagPass(laneOwnerOf(job), mixture.sampleRate, {
    scheduler,
    resampling,
    tagger,
    signal: AbortSignal.any([signal, stop.signal]),
    onFailed: (error) => stop.abort(error),
  })
  let samples = 0
  try {
    for await (const block of mixture.blocks()) {
      await pass.push(block)
      samples += block[0]?.length ?? 0
      const seconds = samples / mixture.sampleRate
      if (secondsExpected > 0) onProgress(Math.min(0.99, seconds / secondsExpected))
    }
    const tags = await pass.finish()
    return { seconds: tags.seconds, sounds: heardSounds(new TaggedFile(tags, tagger)) }
  } catch (error) {
    stop.abort(error)
    throw error
  } finally {
    await pass.close()
  }
}
