/** The other side of `video-process.ts`: serves its calls, and ends with it. */

import { isDiskFull } from './ffmpeg.ts'
import { muxVideo } from './mux-video.ts'
import { prepareVideo } from './prepare-video.ts'
import type { VideoAnswer, VideoCall } from './video-process.ts'

process.on('message', (call: VideoCall) => void answer(call))
process.on('disconnect', () => process.exit())

async function answer({ id, task }: VideoCall): Promise<void> {
  try {
    say({ id, value: await (task.do === 'mux' ? muxVideo(task) : prepareVideo(task)) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    say({ id, error: { message, isDiskFull: isDiskFull(error) } })
  }
}

function say(message: VideoAnswer): void {
  process.send?.(message)
}
