import { useEffect, useMemo } from 'preact/hooks'
import { decodesPreviews } from '../../audio/ogg.ts'
import { LivePreview } from '../../state/live-preview.ts'
import { isOver, type OpenRequest } from '../../state/open-request.ts'
import { timeText } from '../../../shared/time-text.ts'
import { Stage } from './stage.tsx'

/** Plays what is separated so far; nothing until there is something. */
export function LivePlayer({ request }: { request: OpenRequest }) {
  const live = useMemo(() => new LivePreview(request), [request])
  const there = request.status.value?.preview_seconds
  useEffect(() => {
    if (there !== undefined && decodesPreviews()) live.update()
  }, [live, there])
  const end = () => {
    const state = live.close()
    if (isOver(request)) request.heard = state // the result goes on with it
  }
  useEffect(() => end, [live])
  const mixer = live.mixer.value
  if (!mixer) return null
  return (
    <section class="player" aria-label="What is separated so far">
      <p class="quiet">
        The first {timeText(live.seconds.value, 0)} of {timeText(mixer.seconds, 0)} can be heard
        already.
      </p>
      <Stage mixer={mixer} spans={[]} />
    </section>
  )
}
