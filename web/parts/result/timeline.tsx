/** The time axis over all lanes: a ruler, on which loops are drawn, and a playhead. */

import { effect, signal, useComputed } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { LOOP_SECONDS_MIN, type Mixer, type Section } from '../../audio/mixer.ts'
import { timeText } from '../../../shared/time-text.ts'
import type { View } from '../waveform.tsx'

/** Minimum distance between two labels. */
const LABEL_PIXELS = 72
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600]

interface TimelineProps {
  mixer: Mixer
  view: View
}

/** How many pixels a second is wide. */
export const pixelsOf = ({ zoom, width }: View, seconds: number): number =>
  Math.max(zoom.value, width.value / seconds)

/** Shows times. A press moves the position, a drag makes a loop. */
export function Ruler({ mixer, view }: TimelineProps) {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useMemo(() => signal<Section | null>(null), [mixer])
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => (view.width.value = entry!.contentRect.width))
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [view])
  const secondsAt = ({ clientX }: PointerEvent): number => {
    const pixels = clientX - box.current!.getBoundingClientRect().left
    const seconds = view.scroll.value + pixels / pixelsOf(view, mixer.seconds)
    return Math.min(mixer.seconds, Math.max(0, seconds))
  }
  const from = useRef(0)
  const move = (event: PointerEvent) => {
    if (!box.current!.hasPointerCapture(event.pointerId)) return
    const [start, end] = [from.current, secondsAt(event)].sort((a, b) => a - b)
    drawn.value = { start: start!, end: end! }
  }
  const end = () => {
    const section = drawn.value
    drawn.value = null
    if (section && section.end - section.start >= LOOP_SECONDS_MIN) mixer.setLoop(section)
    else mixer.seek(from.current)
  }
  return (
    <div
      ref={box}
      class="ruler"
      aria-hidden="true"
      title="Draw to loop, press to move"
      onPointerDown={(event) => {
        box.current!.setPointerCapture(event.pointerId)
        from.current = secondsAt(event)
      }}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={() => (drawn.value = null)}
    >
      {ticksOf(view, mixer.seconds).map(({ at, text }) => (
        <span key={text} style={{ left: `${at}px` }}>
          {text}
        </span>
      ))}
      <Band section={drawn.value} view={view} seconds={mixer.seconds} />
    </div>
  )
}

function ticksOf(view: View, seconds: number): { at: number; text: string }[] {
  const [pixels, scroll, width] = [pixelsOf(view, seconds), view.scroll.value, view.width.value]
  if (width === 0) return []
  const step = STEPS.find((step) => step * pixels >= LABEL_PIXELS) ?? STEPS.at(-1)!
  const first = Math.ceil(scroll / step)
  const last = Math.floor(Math.min(seconds, scroll + width / pixels) / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
    const time = (first + i) * step
    return { at: (time - scroll) * pixels, text: timeText(time, step < 1 ? 1 : 0) }
  })
}

interface BandProps {
  section: Section | null
  view: View
  seconds: number
}

function Band({ section, view, seconds }: BandProps) {
  if (!section) return null
  const pixels = pixelsOf(view, seconds)
  const left = (section.start - view.scroll.value) * pixels
  const width = (section.end - section.start) * pixels
  return <div class="loop" style={{ left: `${left}px`, width: `${width}px` }} />
}

/** Lies over the ruler and all lanes, and lets the mouse through. */
export function Playhead({ mixer, view }: TimelineProps) {
  const line = useRef<HTMLDivElement>(null)
  const pixels = useComputed(() => pixelsOf(view, mixer.seconds))
  useEffect(() => {
    const { style } = line.current! // signals may still change while the player is being removed
    return effect(() => {
      const at = (mixer.position.value - view.scroll.value) * pixels.value
      style.transform = `translateX(${at}px)`
    })
  }, [mixer])
  useEffect(() => effect(() => keepInView(mixer, view)), [mixer])
  return (
    <div class="over-lanes" aria-hidden="true">
      <Band section={mixer.loop.value} view={view} seconds={mixer.seconds} />
      <div class="playhead" ref={line} />
    </div>
  )
}

/** Scrolls on by a page when the playhead leaves the view. */
function keepInView(mixer: Mixer, view: View): void {
  const position = mixer.position.value
  if (!mixer.isPlaying.value || view.zoom.value === 0) return
  const visible = view.width.peek() / pixelsOf(view, mixer.seconds)
  const scroll = view.scroll.peek()
  if (position < scroll || position > scroll + visible) view.scroll.value = position
}
