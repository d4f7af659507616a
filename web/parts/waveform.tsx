/** Draws a buffer as waveform or spectrogram. wavesurfer.js draws; it plays nothing. */

import { effect, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import WaveSurfer from 'wavesurfer.js'
import RegionsPlugin from 'wavesurfer.js/plugins/regions'
import SpectrogramPlugin from 'wavesurfer.js/plugins/spectrogram'
import { planesOf } from '../audio/decode.ts'
import type { Span } from '../state/draft.ts'

/** What all waveforms of a player share. */
export interface View {
  /** Pixels of a second; 0: all of it fits. */
  zoom: Signal<number>
  /** Seconds at the left edge. */
  scroll: Signal<number>
}

export const createView = (): View => ({ zoom: signal(0), scroll: signal(0) })

interface WaveformProps {
  buffer: AudioBuffer
  label: string
  view: View
  color: string
  height?: number
  position?: ReadonlySignal<number>
  onSeek?: (seconds: number) => void
  isSpectrogram?: boolean
  /** Shown; with `onSpan` drawn with the mouse too. */
  spans?: readonly Span[]
  onSpan?: (section: { start: number; end: number }) => void
}

export function Waveform(props: WaveformProps) {
  const { buffer, label, isSpectrogram = false, spans, color } = props
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<Drawn>(null)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const current = draw(box.current!, latest)
    drawn.current = current
    return () => {
      drawn.current = null
      current.destroy()
    }
  }, [buffer, isSpectrogram, color])
  useEffect(() => drawn.current?.showSpans(spans ?? []), [spans, buffer, isSpectrogram])
  return <div class="waveform" ref={box} role="img" aria-label={`Waveform of ${label}`} />
}

interface Drawn {
  showSpans(spans: readonly Span[]): void
  destroy(): void
}

const SPAN_COLORS = { include: 'rgb(22 163 74 / 28%)', exclude: 'rgb(220 38 38 / 28%)' }
/** A shorter drag is a click. */
const SPAN_SECONDS_MIN = 0.05
const PLAIN = { height: 72, color: '#4f7cff' }

function draw(box: HTMLDivElement, latest: { current: WaveformProps }): Drawn {
  const { buffer, view, color, position, isSpectrogram, height = PLAIN.height } = latest.current
  const surfer = WaveSurfer.create({
    container: box,
    height: isSpectrogram ? 0 : height,
    peaks: planesOf(buffer),
    duration: buffer.duration,
    sampleRate: buffer.sampleRate,
    waveColor: color,
    progressColor: color,
    cursorColor: position ? '#d6336c' : 'transparent',
    interact: latest.current.onSeek !== undefined,
    normalize: false,
    hideScrollbar: true,
  })
  if (isSpectrogram) {
    const options = { height: 2 * height, labels: false, scale: 'mel' as const }
    surfer.registerPlugin(SpectrogramPlugin.create(options))
  }
  const regions = surfer.registerPlugin(RegionsPlugin.create())
  if (latest.current.onSpan) {
    regions.enableDragSelection({ color: SPAN_COLORS.include })
    regions.on('region-created', (region) => {
      if (region.id.startsWith(SHOWN)) return
      const { start, end } = region
      region.remove()
      if (end - start >= SPAN_SECONDS_MIN) latest.current.onSpan?.({ start, end })
    })
  }
  surfer.on('interaction', (seconds) => latest.current.onSeek?.(seconds))
  const stops = [shareView(surfer, view), position ? followPosition(surfer, position) : () => {}]
  return {
    showSpans(spans) {
      const show = () => showRegions(regions, spans)
      if (surfer.getDuration() > 0) show()
      else surfer.once('ready', show)
    },
    destroy() {
      for (const stop of stops) stop()
      surfer.destroy()
    },
  }
}

type Regions = ReturnType<typeof RegionsPlugin.create>

const SHOWN = 'shown-'

function showRegions(regions: Regions, spans: readonly Span[]): void {
  for (const region of regions.getRegions()) if (region.id.startsWith(SHOWN)) region.remove()
  for (const [i, { start, end, include }] of spans.entries()) {
    const color = SPAN_COLORS[include ? 'include' : 'exclude']
    regions.addRegion({ id: `${SHOWN}${i}`, start, end, color, drag: false, resize: false })
  }
}

/** Zoom and scroll are the same in all waveforms of a view. */
function shareView(surfer: WaveSurfer, { zoom, scroll }: View): () => void {
  const stops: (() => void)[] = []
  const start = () => {
    stops.push(effect(() => surfer.zoom(zoom.value)))
    stops.push(effect(() => surfer.setScrollTime(scroll.value)))
  }
  surfer.on('scroll', (seconds) => {
    if (Math.abs(scroll.peek() - seconds) > 0.01) scroll.value = seconds
  })
  surfer.once('ready', start)
  return () => {
    for (const stop of stops) stop()
  }
}

const followPosition = (surfer: WaveSurfer, position: ReadonlySignal<number>): (() => void) =>
  effect(() => {
    const seconds = position.value
    if (surfer.getDuration() > 0) surfer.setTime(seconds)
  })
