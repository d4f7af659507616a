import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Lane } from '../../audio/lane.ts'
import { toDb } from '../../audio/levels.ts'
import type { Mixer } from '../../audio/mixer.ts'
import type { Span } from '../../state/draft.ts'
import { FindingChip } from './finding-chip.tsx'
import { FurtherButton } from './further-button.tsx'
import { WhereBand } from './where-band.tsx'
import type { View } from '../waveform.tsx'
import { LanePicture } from './lane-picture.tsx'

const GAIN_DB_MAX = 12

interface LaneRowProps {
  lane: Lane
  color: string
  mixer: Mixer
  view: View
  isSpectrogram: boolean
  spans: readonly Span[]
}

export function LaneRow({ lane, color, mixer, view, isSpectrogram, spans }: LaneRowProps) {
  const { label, output, finding, gainDb } = lane
  const isHeard = mixer.levels.value[mixer.lanes.indexOf(lane)]! > 0
  const fullDb = useMemo(() => fullLevelDb(lane), [lane])
  return (
    <section
      class={isHeard ? 'lane' : 'lane inactive'}
      style={{ '--lane': color }}
      aria-label={label}
    >
      <div class="lane-head">
        <div class="lane-name">
          <h2>{label}</h2>
          <span class="quiet">{gainDb.value} dB</span>
        </div>
        <div class="lane-controls">
          <SoloAndMute lane={lane} mixer={mixer} />
          <input
            type="range"
            min="-30"
            max={Math.max(GAIN_DB_MAX, fullDb)}
            step="1"
            value={gainDb.value}
            aria-label={`Gain of ${label} in dB`}
            onInput={({ currentTarget }) => (gainDb.value = Number(currentTarget.value))}
          />
        </div>
        <LaneMeter lane={lane} mixer={mixer} />
        <div class="lane-marks">
          {finding && <FindingChip finding={finding} label={label} />}
          {fullDb > 0 && <FullLevel lane={lane} mixer={mixer} db={fullDb} />}
          {output && <FurtherButton label={label} output={output} isHeld />}
        </div>
      </div>
      <div class="lane-picture">
        <LanePicture {...{ lane, color, mixer, view, isSpectrogram, spans }} />
        {finding && <WhereBand finding={finding} seconds={mixer.seconds} view={view} />}
      </div>
    </section>
  )
}

/** Buttons that choose which lanes are heard; they have no effect while A and B are compared. */
function SoloAndMute({ lane, mixer }: { lane: Lane; mixer: Mixer }) {
  const { label, isSolo, isMuted } = lane
  const isMix = mixer.compared.value === null
  return (
    <>
      <button
        class="solo"
        aria-pressed={isMix && isSolo.value}
        aria-label={`Solo ${label}`}
        title="Solo: hear this lane, and others that are solo"
        onClick={() => mixer.toggleSolo(lane)}
      >
        S
      </button>
      <button
        class="mute"
        aria-pressed={isMix && isMuted.value}
        aria-label={`Mute ${label}`}
        title="Mute: hear all but this lane"
        onClick={() => mixer.toggleMute(lane)}
      >
        M
      </button>
    </>
  )
}

/** The lowest level that a meter shows, in dB. */
const METER_DB_MIN = -48

/** Shows the current level of a lane. */
function LaneMeter({ lane, mixer }: { lane: Lane; mixer: Mixer }) {
  const bar = useRef<HTMLDivElement>(null)
  const isPlaying = mixer.isPlaying.value
  useEffect(() => {
    const { style } = bar.current!
    style.transform = 'scaleX(0)'
    if (!isPlaying) return undefined
    let frame = 0
    const draw = () => {
      const db = toDb(mixer.peakOf(lane))
      style.transform = `scaleX(${Math.min(1, Math.max(0, 1 - db / METER_DB_MIN))})`
      frame = requestAnimationFrame(draw)
    }
    draw()
    return () => cancelAnimationFrame(frame)
  }, [lane, mixer, isPlaying])
  return (
    <div class="meter" aria-hidden="true">
      <div ref={bar} />
    </div>
  )
}

/** By how many dB a target was softened, as far as it can be amplified without clipping. */
function fullLevelDb({ finding, sound }: Lane): number {
  const { softened_db: softer = 0 } = finding ?? {}
  if (softer < 1) return 0
  return Math.round(Math.max(0, Math.min(softer, -toDb(sound.value.peak))))
}

/** Plays the lane as loud as it was separated. */
function FullLevel({ lane, mixer, db }: { lane: Lane; mixer: Mixer; db: number }) {
  const isFull = lane.gainDb.value === db
  const press = () => {
    lane.gainDb.value = isFull ? 0 : db
    if (isFull) return
    mixer.solo(lane)
    if (!mixer.isPlaying.value) void mixer.play()
  }
  return (
    <button class="further" aria-pressed={isFull} onClick={press}>
      Play at full level
    </button>
  )
}
