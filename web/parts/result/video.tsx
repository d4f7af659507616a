import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Mixer } from '../../audio/mixer.ts'
import type { PlayableResult } from '../../state/loaded-media.ts'

/** If picture and sound are further apart than this, the picture is moved. */
const DRIFT_SECONDS_MAX = 0.1

/** Shows the picture, muted, in sync with the sound; nothing if there is no picture. */
export function Video({ result, mixer }: { result: PlayableResult; mixer: Mixer }) {
  const url = result.data.target.video_url
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => (video.current ? followMixer(video.current, mixer) : undefined), [url, mixer])
  if (url === undefined) return null
  return <video ref={video} src={url} muted playsInline aria-label="Picture of the source" />
}

/** Follows the mixer until the returned function is called. */
function followMixer(video: HTMLVideoElement, mixer: Mixer): () => void {
  const stops = [
    effect(() => {
      if (mixer.isPlaying.value) void video.play()
      else video.pause()
    }),
    effect(() => {
      const seconds = mixer.position.value
      const isOff = Math.abs(video.currentTime - seconds) > DRIFT_SECONDS_MAX
      if (isOff) video.currentTime = seconds
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
