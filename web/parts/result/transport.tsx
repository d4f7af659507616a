import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { LOOP_SECONDS_MIN, type Mixer, type Section } from '../../audio/mixer.ts'
import { timeText } from '../../../shared/time-text.ts'
import { Icon, type IconName } from './icon.tsx'
import { Strength } from './strength.tsx'
import type { View } from '../waveform.tsx'
import { Problem } from '../problem.tsx'

const ZOOM_MAX = 400
const ZOOM_STEP = 1.6

/** The playback controls, which stay at the top of the screen on phones. */
export function Transport({ mixer }: { mixer: Mixer }) {
  return (
    <div class="transport" role="group" aria-label="Playback">
      <PlayButton mixer={mixer} />
      <Clock mixer={mixer} />
      <Position mixer={mixer} />
      <LoopButton mixer={mixer} />
      <Volume mixer={mixer} />
      {mixer.isWaiting.value && (
        <span class="quiet" role="status">
          {isAhead(mixer) ? 'Not separated yet…' : 'Loading…'}
        </span>
      )}
      <Problem>
        {mixer.problem.value}
        {mixer.isSoundless.value &&
          'No audio device was found. Connect one and press Play again; downloads work without ' +
            'one.'}
      </Problem>
    </div>
  )
}

/** Whether the position is past what is separated so far. */
const isAhead = ({ sounds: { ready, segmentSeconds }, position }: Mixer): boolean =>
  ready !== undefined && position.value > ready.value - segmentSeconds

function PlayButton({ mixer }: { mixer: Mixer }) {
  const isPlaying = mixer.isPlaying.value
  const name = isPlaying ? 'Pause' : 'Play'
  return (
    <button
      class="primary icons"
      aria-label={name}
      title={`${name} (Space)`}
      onClick={() => void mixer.toggle()}
    >
      <Icon name={isPlaying ? 'pause' : 'play'} />
    </button>
  )
}

const clockText = (seconds: number): string => timeText(seconds, 1)

function Clock({ mixer }: { mixer: Mixer }) {
  const text = useMemo(
    () => computed(() => `${clockText(mixer.position.value)} of ${clockText(mixer.seconds)}`),
    [mixer],
  )
  return <span class="clock">{text}</span>
}

/** The position, for keyboards and screen readers. */
function Position({ mixer }: { mixer: Mixer }) {
  return (
    <input
      class="position"
      type="range"
      aria-label="Position in seconds"
      min="0"
      max={mixer.seconds}
      step="0.1"
      value={mixer.position.value}
      onInput={({ currentTarget }) => mixer.seek(Number(currentTarget.value))}
    />
  )
}

function LoopButton({ mixer }: { mixer: Mixer }) {
  const loop = mixer.loop.value
  const section = loop ? `${clockText(loop.start)} to ${clockText(loop.end)}` : ''
  return (
    <button
      class="icons"
      aria-pressed={loop !== null}
      aria-label={`Loop ${section}`.trim()}
      title="Loop two seconds from here, or what you draw on the ruler (L)"
      onClick={() => mixer.toggleLoop()}
    >
      <Icon name="loop" /> {section}
    </button>
  )
}

/** The start and end of the loop as numbers. */
function LoopTimes({ mixer, loop }: { mixer: Mixer; loop: Section }) {
  const set = (change: Partial<Section>) => {
    const next = { ...loop, ...change }
    const isValid = next.start >= 0 && next.end <= mixer.seconds
    if (isValid && next.end - next.start >= LOOP_SECONDS_MIN) mixer.setLoop(next)
  }
  const field = (name: keyof Section, text: string) => (
    <label>
      {text}
      <input
        type="number"
        aria-label={`Loop ${text}, in seconds`}
        min="0"
        max={mixer.seconds}
        step="0.1"
        value={Math.round(loop[name] * 100) / 100}
        onChange={({ currentTarget }) => set({ [name]: Number(currentTarget.value) })}
      />
    </label>
  )
  return (
    <div class="loop-times">
      {field('start', 'from')} {field('end', 'to')} s
    </div>
  )
}

function Volume({ mixer }: { mixer: Mixer }) {
  return (
    <label class="volume" title="Volume of everything; what you save keeps its level">
      <Icon name="volume" />
      <input
        type="range"
        aria-label="Volume in percent"
        min="0"
        max="100"
        value={100 * mixer.volume.value}
        onInput={({ currentTarget }) => (mixer.volume.value = Number(currentTarget.value) / 100)}
      />
    </label>
  )
}

interface ToolsProps {
  mixer: Mixer
  view: View
  isSpectrogram: boolean
  onSpectrogram(isShown: boolean): void
}

/** Controls for how the lanes are compared and drawn. */
export function Tools({ mixer, view, isSpectrogram, onSpectrogram }: ToolsProps) {
  const zoomBy = (factor: number) => {
    const fit = view.width.value / mixer.seconds
    const next = Math.max(fit, view.zoom.value) * factor
    const zoom = next <= fit ? 0 : Math.min(Math.max(ZOOM_MAX, fit), next)
    const visible = view.width.value / Math.max(zoom, fit)
    view.zoom.value = zoom
    view.scroll.value = Math.max(0, mixer.position.value - visible / 2)
  }
  return (
    <div class="tools">
      <Compare mixer={mixer} />
      <Strength mixer={mixer} />
      {mixer.loop.value && <LoopTimes mixer={mixer} loop={mixer.loop.value} />}
      <div role="group" aria-label="Drawing" class="choice joined">
        <Tool icon="zoomIn" name="Zoom in" onClick={() => zoomBy(ZOOM_STEP)} />
        <Tool icon="zoomOut" name="Zoom out" onClick={() => zoomBy(1 / ZOOM_STEP)} />
        <Tool
          icon="spectrogram"
          name="Spectrogram"
          isPressed={isSpectrogram}
          onClick={() => onSpectrogram(!isSpectrogram)}
        />
      </div>
    </div>
  )
}

interface ToolProps {
  icon: IconName
  name: string
  isPressed?: boolean
  onClick(): void
}

const Tool = ({ icon, name, isPressed, onClick }: ToolProps) => (
  <button class="icons" aria-label={name} title={name} aria-pressed={isPressed} onClick={onClick}>
    <Icon name={icon} />
  </button>
)

/** Switches between your mix, the mixture and a target. */
function Compare({ mixer }: { mixer: Mixer }) {
  const current = mixer.compared.value
  const { a, b } = mixer.pair.value
  const side = (isPressed: boolean, text: string, to: 'a' | 'b' | null) => (
    <button aria-pressed={isPressed} onClick={() => mixer.compare(to)}>
      {text}
    </button>
  )
  return (
    <div
      role="group"
      aria-label="Compare at equal loudness"
      title="A and B are equally loud; the key B cycles through A, B and your mix"
      class="choice joined"
    >
      {side(current === null, 'Your mix', null)}
      {side(current?.isB === false, `A: ${a.label}`, 'a')}
      {side(current?.isB === true, `B: ${b.label}`, 'b')}
    </div>
  )
}
