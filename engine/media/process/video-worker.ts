/** Runs in the process of `video-process.ts`. */

import { answerCalls } from './process-rpc-server.ts'
import { muxVideo } from '../write/mux-video.ts'
import { prepareVideo } from '../write/prepare-video.ts'
import type { VideoTask } from './video-process.ts'

answerCalls<VideoTask>((task, report) =>
  task.do === 'mux' ? muxVideo(task) : prepareVideo(task, report),
)
