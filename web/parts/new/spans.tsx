import { signal } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { decodeShort } from '../../audio/decode.ts'
import { magnitudesOf } from '../../audio/peaks.ts'
import { spans, type Span } from '../../state/draft.ts'
import { focusIfLost } from '../focus.ts'
import { createView, Waveform, type Picture } from '../waveform.tsx'

/** Larger or longer files are not drawn, because decoding them would fill the memory. */
const DRAWN_BYTES_MAX = 200_000_000
const DRAWN_SECONDS_MAX = 1_800
/** In hertz; finer than a pixel. */
const DRAWING_RATE = 8_000

const includes = signal(true)

const add = (section: { start: number; end: number }) => {
  const round = (seconds: number) => Math.round(seconds * 100) / 100
  const span = { start: round(section.start), end: round(section.end), include: includes.value }
  spans.value = [...spans.value, span]
}

/** Marks where the sound is present or absent, by drawing on the waveform or by typing. */
export function Spans({ bytes }: { bytes: Blob }) {
  const [isOpen, setOpen] = useState(false)
  const [drawn, setDrawn] = useState<Picture | 'too long' | null>(null)
  const view = useMemo(createView, [bytes])
  useEffect(() => {
    setDrawn(null)
    if (!isOpen) return undefined
    let isCurrent = true
    decodeDrawn(bytes).then(
      (done) => isCurrent && setDrawn(done ?? 'too long'),
      () => undefined, // this browser cannot read it, but the service may
    )
    return () => void (isCurrent = false)
  }, [bytes, isOpen])
  const { list, adder, addTimes } = useListFocus()
  const count = spans.value.length
  return (
    <details class="spans" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Where does it sound? {count > 0 && `(${count})`}</summary>
      <p class="quiet">
        Optional. Draw on the waveform with the mouse, or add times: the model goes by them.
      </p>
      <div role="group" aria-label="What the next span says" class="choice">
        {[true, false].map((include) => (
          <button
            key={String(include)}
            type="button"
            aria-pressed={includes.value === include}
            onClick={() => (includes.value = include)}
          >
            {include ? 'It sounds here' : 'It does not'}
          </button>
        ))}
        <button ref={adder} type="button" onClick={addTimes}>
          Add times
        </button>
      </div>
      {drawn === 'too long' && <p class="quiet">This file is too long to be drawn: add times.</p>}
      {drawn !== null && drawn !== 'too long' && (
        <Waveform
          picture={drawn}
          label="the source"
          view={view}
          color="#7386a8"
          spans={spans.value}
          onDrag={add}
        />
      )}
      <ul class="span-list" ref={list}>
        {spans.value.map((span, i) => (
          <SpanRow key={i} span={span} i={i} />
        ))}
      </ul>
    </details>
  )
}

/** Null if it is too long. */
async function decodeDrawn(bytes: Blob): Promise<Picture | null> {
  if (bytes.size > DRAWN_BYTES_MAX) return null
  const buffer = await decodeShort(bytes, DRAWING_RATE, DRAWN_SECONDS_MAX)
  if (!buffer) return null
  return { planes: magnitudesOf(buffer), seconds: buffer.duration, sampleRate: DRAWING_RATE }
}

/** Moves the focus to times that were added, and back after a span was removed. */
function useListFocus() {
  const list = useRef<HTMLUListElement>(null)
  const adder = useRef<HTMLButtonElement>(null)
  const isAdded = useRef(false)
  useEffect(() => {
    if (isAdded.current) list.current!.querySelector<HTMLElement>('li:last-child input')!.focus()
    else focusIfLost(adder.current) // the button of the removed span had the focus
    isAdded.current = false
  }, [spans.value.length])
  const addTimes = () => {
    isAdded.current = true
    add({ start: 0, end: 1 })
  }
  return { list, adder, addTimes }
}

function SpanRow({ span, i }: { span: Span; i: number }) {
  const change = (part: Partial<Span>) =>
    (spans.value = spans.value.map((old, j) => (j === i ? { ...old, ...part } : old)))
  const time = (name: 'start' | 'end') => (
    <label>
      {name}
      <input
        type="number"
        aria-label={`${name} of span ${i + 1}, in seconds`}
        min="0"
        step="0.01"
        value={span[name]}
        onChange={({ currentTarget }) => change({ [name]: Number(currentTarget.value) })}
      />
    </label>
  )
  return (
    <li class={span.include ? 'include' : 'exclude'}>
      <span>{span.include ? 'sounds' : 'does not sound'}</span>
      {time('start')}
      {time('end')}
      <button
        type="button"
        aria-label={`Remove span ${i + 1}`}
        onClick={() => (spans.value = spans.value.filter((_, j) => j !== i))}
      >
        ×
      </button>
    </li>
  )
}
