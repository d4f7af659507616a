/** Tracks the progress of a job, which is that of its sound or its video, whichever is slower. */

import type { Progress } from '../../../shared/messages.ts'
import type { VideoProgress } from '../../media/write/video-progress.ts'

/** The rest is reserved for the upload. */
const PROGRESS_MAX = 0.99

export type ProgressReport = Pick<Progress, 'progress' | 'seconds_at_least' | 'live_preview'>

/** The progress that it publishes never falls. */
export class JobProgress {
  readonly #publish: (reported: ProgressReport) => void
  #livePreview: Progress['live_preview']
  #sound = 0
  #video: VideoProgress
  #published = 0

  /** @param hasVideo whether `video` will be called; until then its part counts as unknown */
  constructor(hasVideo: boolean, publish: (reported: ProgressReport) => void) {
    this.#video = { done: hasVideo ? 0 : 1 }
    this.#publish = publish
  }

  /** Reports the share of the sound that is separated, from 0 to 1. */
  readonly sound = (part: number): void => {
    this.#sound = part
    if (this.#progress > this.#published) this.#report()
  }

  /** Reports that all sound is separated; from then on only the video counts. */
  soundEnded(): void {
    this.#sound = 1
    if (this.#video.done < 1) this.#report()
  }

  readonly video = (video: VideoProgress): void => {
    this.#video = video
    this.#report()
  }

  /** Reports how many parts of the live preview are stored, and how long they are together. */
  readonly live = (parts: number, seconds: number): void => {
    this.#livePreview = { parts, seconds }
    this.#report()
  }

  get #progress(): number {
    return Math.min(this.#sound, this.#video.done, PROGRESS_MAX)
  }

  #report(): void {
    this.#published = Math.max(this.#published, this.#progress)
    const { done, secondsLeft } = this.#video
    this.#publish({
      progress: this.#published,
      ...(done < 1 && secondsLeft !== undefined && { seconds_at_least: secondsLeft }),
      ...(this.#livePreview && { live_preview: this.#livePreview }),
    })
  }
}
