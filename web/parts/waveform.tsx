/** Draws sound as a waveform or spectrogram with wavesurfer.js, which plays nothing here. */

import { effect, signal, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type WaveSurfer from 'wavesurfer.js'
import type RegionsPlugin from 'wavesurfer.js/plugins/regions'
import type { Section } from '../audio/mixer.ts'
import type { Span } from '../state/draft.ts'
import { drawing, type Drawing } from './drawing.ts'

/** The state shared by all waveforms of a player. */
export interface View {
  /** Pixels per second; 0 fits everything. */
  zoom: Signal<number>
  /** Seconds at the left edge. */
  scroll: Signal<number>
  /** Width of each lane in pixels. */
  width: Signal<number>
}

export const createView = (): View => ({ zoom: signal(0), scroll: signal(0), width: signal(0) })

/** What to draw, channel by channel: peaks or, for a spectrogram, samples. */
export interface Picture {
  planes: readonly Float32Array[]
  seconds: number
  /** Sample rate of samples in hertz. */
  sampleRate: number
}

interface WaveformProps {
  picture: Picture
  label: string
  view: View
  color: string
  /** Receives the time that is pressed or dragged to. */
  onSeek?: (seconds: number) => void
  isSpectrogram?: boolean
  spans?: readonly Span[]
  /** Receives the section that is drawn with the mouse. */
  onDrag?: (section: Section) => void
}

export function Waveform(props: WaveformProps) {
  const { picture, label, isSpectrogram = false, spans, color } = props
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<WaveformDrawing>(null)
  const latest = useRef(props)
  latest.current = props
  const library = drawing.value
  useEffect(() => {
    if (!library) return undefined
    const current = draw(library, box.current!, latest)
    drawn.current = current
    return () => {
      drawn.current = null
      current.destroy()
    }
  }, [library, picture, isSpectrogram, color])
  useEffect(() => {
    const shown = (spans ?? []).map((span) => ({
      ...span,
      color: SPAN_COLORS[span.include ? 'include' : 'exclude'],
    }))
    drawn.current?.show(shown)
  }, [library, spans, picture, isSpectrogram])
  return <div class="waveform" ref={box} role="img" aria-label={`Waveform of ${label}`} />
}

type ColoredSection = Section & { color: string }

interface WaveformDrawing {
  show(sections: readonly ColoredSection[]): void
  destroy(): void
}

const SPAN_COLORS = { include: 'rgb(22 163 74 / 28%)', exclude: 'rgb(220 38 38 / 28%)' }
const DRAWN_COLOR = 'rgb(214 51 108 / 18%)'
/** Shorter drags count as clicks. */
const DRAG_SECONDS_MIN = 0.05
const HEIGHT = 72

function draw(
  { WaveSurfer, RegionsPlugin, SpectrogramPlugin }: Drawing,
  box: HTMLDivElement,
  latest: { current: WaveformProps },
): WaveformDrawing {
  const { picture, view, color, isSpectrogram } = latest.current
  const surfer = WaveSurfer.create({
    container: box,
    height: isSpectrogram ? 0 : HEIGHT,
    peaks: picture.planes.map((plane) => plane.slice()),
    duration: picture.seconds,
    sampleRate: picture.sampleRate,
    waveColor: color,
    progressColor: color,
    cursorColor: 'transparent', // a single playhead covers all lanes
    interact: latest.current.onSeek !== undefined,
    dragToSeek: latest.current.onSeek !== undefined,
    autoScroll: false,
    normalize: false,
    hideScrollbar: true,
  })
  if (isSpectrogram) {
    const options = { height: 2 * HEIGHT, labels: false, scale: 'mel' as const }
    surfer.registerPlugin(SpectrogramPlugin.create(options))
  }
  const regions = surfer.registerPlugin(RegionsPlugin.create())
  if (latest.current.onDrag) {
    regions.enableDragSelection({ color: DRAWN_COLOR })
    regions.on('region-created', (region) => {
      if (region.id.startsWith(SHOWN)) return
      const { start, end } = region
      region.remove()
      if (end - start >= DRAG_SECONDS_MIN) latest.current.onDrag?.({ start, end })
    })
  }
  surfer.on('interaction', (seconds) => latest.current.onSeek?.(seconds))
  const stop = shareView(surfer, view)
  return {
    show(sections) {
      const show = () => showRegions(regions, sections)
      if (surfer.getDuration() > 0) show()
      else surfer.once('ready', show)
    },
    destroy() {
      stop()
      surfer.destroy()
    },
  }
}

type Regions = ReturnType<typeof RegionsPlugin.create>

const SHOWN = 'shown-'

function showRegions(regions: Regions, sections: readonly ColoredSection[]): void {
  for (const region of regions.getRegions()) if (region.id.startsWith(SHOWN)) region.remove()
  for (const [i, section] of sections.entries()) {
    regions.addRegion({ ...section, id: `${SHOWN}${i}`, drag: false, resize: false })
  }
}

/** Keeps zoom and scroll the same in all waveforms of a view. */
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
