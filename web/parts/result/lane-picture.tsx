/** Draws a lane: its peaks or, when zoomed in, the visible samples, which are fetched on demand. */

import { useEffect, useMemo, useState } from 'preact/hooks'
import { planesOf } from '../../audio/decode.ts'
import type { Lane } from '../../audio/lane.ts'
import type { Mixer, Section } from '../../audio/mixer.ts'
import { magnitudesOf } from '../../audio/peaks.ts'
import { windowOf } from '../../audio/sounds.ts'
import type { Span } from '../../state/draft.ts'
import { createView, Waveform, type View } from '../waveform.tsx'
import { pixelsOf } from './timeline.tsx'

/** How long the view must rest before anything is fetched for it. */
const REST_MS = 150

interface LanePictureProps {
  lane: Lane
  color: string
  mixer: Mixer
  view: View
  isSpectrogram: boolean
  spans: readonly Span[]
}

export function LanePicture(props: LanePictureProps) {
  const { lane, color, mixer, view, isSpectrogram, spans } = props
  const { seconds } = mixer
  const isShort = seconds <= mixer.sounds.windowSecondsMax
  const section = sampledSection(props)
  const samples = useSamples(mixer, mixer.lanes.indexOf(lane), section)
  const ownView = useMemo(createView, [samples])
  const isDetail = samples !== null && section !== null && !isShort
  const start = isDetail ? samples.start : 0
  const shown = useMemo(() => {
    const { sampleRate } = mixer.sounds
    if (!section || !samples) return { planes: lane.sound.value.drawn, seconds, sampleRate }
    const planes = isSpectrogram ? planesOf(samples.buffer) : magnitudesOf(samples.buffer)
    return { planes, seconds: samples.buffer.duration, sampleRate }
  }, [lane, lane.sound.value, samples, section === null, isSpectrogram])
  const scrollBy = ({ deltaX }: WheelEvent) => {
    const pixels = pixelsOf(view, seconds)
    const last = seconds - view.width.value / pixels
    if (isDetail) view.scroll.value = Math.max(0, Math.min(last, start + deltaX / pixels))
  }
  return (
    <div onWheel={scrollBy}>
      <Waveform
        picture={shown}
        label={lane.label}
        view={isDetail ? ownView : view}
        color={color}
        onSeek={(at) => mixer.seek(start + at)}
        isSpectrogram={isSpectrogram && section !== null && samples !== null}
        spans={spans.map((span) => ({ ...span, start: span.start - start, end: span.end - start }))}
      />
      {isSpectrogram && section === null && (
        <p class="quiet">Zoom in to see the spectrogram of what is in sight.</p>
      )}
    </div>
  )
}

/** The section to draw from samples; null if peaks suffice or it would be too long. */
function sampledSection({ mixer, view, isSpectrogram }: LanePictureProps): Section | null {
  const { seconds, sounds } = mixer
  if (seconds <= sounds.windowSecondsMax) return isSpectrogram ? { start: 0, end: seconds } : null
  const width = view.width.value // 0 until the browser has laid it out
  const visible = width / pixelsOf(view, seconds)
  if (width === 0 || visible > sounds.windowSecondsMax) return null
  const start = Math.max(0, Math.min(view.scroll.value, seconds - visible))
  const end = Math.min(seconds, start + visible)
  return sounds.ready && end > sounds.ready.value ? null : { start, end }
}

interface Samples {
  start: number
  buffer: AudioBuffer
}

/** The samples of a section; until they arrive, those of the previous section. */
function useSamples(mixer: Mixer, lane: number, section: Section | null): Samples | null {
  const [samples, setSamples] = useState<Samples | null>(null)
  useEffect(() => {
    if (!section) return setSamples(null)
    let isCurrent = true
    const fetch = async () => {
      const buffer = await windowOf(mixer.sounds, lane, section)
      if (isCurrent) setSamples({ start: section.start, buffer })
    }
    // If they cannot be loaded, the peaks remain; the player says why when it plays.
    const resting = setTimeout(() => void fetch().catch(() => undefined), REST_MS)
    return () => {
      isCurrent = false
      clearTimeout(resting)
    }
  }, [mixer, lane, section?.start, section?.end])
  return samples
}
