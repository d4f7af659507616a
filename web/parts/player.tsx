import { computed } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { encodeWav } from '../audio/wav.ts'
import type { Mixer } from '../audio/mixer.ts'
import { predictedSpans } from '../audio/spans.ts'
import type { Loaded } from '../state/player.ts'
import type { OpenRequest } from '../state/request.ts'
import { making, save } from '../state/save.ts'
import { listenToKeys } from './keys.ts'
import { LaneRow } from './lane-row.tsx'
import { NullTest } from './null-test.tsx'
import { Video } from './video.tsx'
import { createView } from './waveform.tsx'

const ZOOM_MAX = 400
const ZOOM_STEP = 1.6

export function Player({ loaded, request }: { loaded: Loaded; request: OpenRequest }) {
  const { mixer } = loaded
  const view = useMemo(createView, [mixer])
  const [isSpectrogram, setSpectrogram] = useState(false)
  useEffect(() => listenToKeys(mixer), [mixer])
  const logs = request.status.value?.logs ?? []
  const spans = predictedSpans(logs.map(({ message }) => message)).map((span) => ({
    ...span,
    include: true,
  }))
  const seconds = mixer.seconds
  const zoomBy = (factor: number) => {
    const fit = 600 / seconds // about as wide as a lane is
    const next = Math.max(fit, view.zoom.value || fit) * factor
    view.zoom.value = next <= fit ? 0 : Math.min(ZOOM_MAX, next)
  }
  return (
    <div class="player">
      {loaded.isSilent && <p class="finding unsure">This file is silent.</p>}
      <Video result={loaded.result} mixer={mixer} />
      <div class="transport" role="group" aria-label="Playback">
        <PlayButton mixer={mixer} />
        <Clock mixer={mixer} />
        <Compare mixer={mixer} />
        <LoopButton mixer={mixer} />
        <button aria-label="Zoom in" onClick={() => zoomBy(ZOOM_STEP)}>
          +
        </button>
        <button aria-label="Zoom out" onClick={() => zoomBy(1 / ZOOM_STEP)}>
          −
        </button>
        <button aria-pressed={isSpectrogram} onClick={() => setSpectrogram(!isSpectrogram)}>
          Spectrogram
        </button>
      </div>
      <Position mixer={mixer} />
      {mixer.lanes.map((lane, i) => (
        <LaneRow
          key={i}
          lane={lane}
          mixer={mixer}
          view={view}
          isSpectrogram={isSpectrogram}
          spans={lane.kind === 'mixture' ? spans : []}
        />
      ))}
      {!loaded.hasOriginal && (
        <p class="quiet">
          The source is not in this browser: the mixture here is all outputs added up.
        </p>
      )}
      <NullTest loaded={loaded} />
      <SaveMix mixer={mixer} name={request.name} />
      <Shortcuts />
    </div>
  )
}

function PlayButton({ mixer }: { mixer: Mixer }) {
  return (
    <button class="primary" onClick={() => void mixer.toggle()}>
      {mixer.isPlaying.value ? 'Pause' : 'Play'}
    </button>
  )
}

const timeText = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, '0')}`

function Clock({ mixer }: { mixer: Mixer }) {
  const text = useMemo(
    () => computed(() => `${timeText(mixer.position.value)} of ${timeText(mixer.seconds)}`),
    [mixer],
  )
  return <span class="clock">{text}</span>
}

/** The position for keyboards and screen readers. */
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

function Compare({ mixer }: { mixer: Mixer }) {
  const current = mixer.compared.value
  const text = current ? (current.isB ? `B: ${current.b.label}` : 'A: Mixture') : 'A/B'
  return (
    <button
      aria-pressed={current !== null}
      title="Mixture and target in turn, equally loud"
      onClick={() => mixer.toggleComparison()}
    >
      {text}
    </button>
  )
}

function LoopButton({ mixer }: { mixer: Mixer }) {
  const loop = mixer.loop.value
  return (
    <button aria-pressed={loop !== null} onClick={() => mixer.toggleLoop()}>
      {loop ? `Loop ${timeText(loop.start)} to ${timeText(loop.end)}` : 'Loop'}
    </button>
  )
}

/** The lanes as they sound now, with solo, mute and gains. */
function SaveMix({ mixer, name }: { mixer: Mixer; name: string }) {
  const mixName = `${name.replace(/\.[^.]*$/, '')}.mix.wav`
  const mix = async () => encodeWav(await mixer.render())
  return (
    <button disabled={making.value !== null} onClick={() => void save(mixName, mix)}>
      Save this mix
    </button>
  )
}

function Shortcuts() {
  return (
    <details>
      <summary>Keys and mouse</summary>
      <p class="quiet">
        <kbd>Space</kbd> plays, <kbd>1</kbd> to <kbd>9</kbd> solo a lane, <kbd>B</kbd> goes through
        A, B and the mix, <kbd>L</kbd> loops, <kbd>←</kbd> <kbd>→</kbd> move by 5 seconds.
        With the mouse: what is drawn on a lane is looped.
      </p>
    </details>
  )
}
