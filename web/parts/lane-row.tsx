import { useMemo } from 'preact/hooks'
import { peakOf, toDb } from '../audio/levels.ts'
import type { Lane, LaneKind, Mixer } from '../audio/mixer.ts'
import type { Span } from '../state/draft.ts'
import { FindingChip } from './finding-chip.tsx'
import { FurtherButton } from './further-button.tsx'
import { Waveform, type View } from './waveform.tsx'

const COLORS: Readonly<Record<LaneKind, string>> = {
  mixture: '#7386a8',
  target: '#2f6fed',
  residual: '#b4622d',
}

const GAIN_DB_MAX = 12

interface LaneRowProps {
  lane: Lane
  mixer: Mixer
  view: View
  isSpectrogram: boolean
  spans: readonly Span[]
}

export function LaneRow({ lane, mixer, view, isSpectrogram, spans }: LaneRowProps) {
  const { label, kind, buffer, output, finding, isSolo, isMuted, gainDb } = lane
  const fullDb = useMemo(() => fullLevelDb(lane), [lane])
  return (
    <section class={`lane ${kind}`} aria-label={label}>
      <div class="lane-head">
        <div class="lane-name">
          <h2>{label}</h2>
          <span class="quiet">{gainDb.value} dB</span>
        </div>
        {finding && (
          <div class="lane-chip">
            <FindingChip finding={finding} label={label} />
          </div>
        )}
        {fullDb > 0 && <FullLevel lane={lane} mixer={mixer} db={fullDb} />}
        <button
          aria-pressed={isSolo.value}
          aria-label={`Solo ${label}`}
          title="Solo"
          onClick={() => (isSolo.value = !isSolo.value)}
        >
          S
        </button>
        <button
          aria-pressed={isMuted.value}
          aria-label={`Mute ${label}`}
          title="Mute"
          onClick={() => (isMuted.value = !isMuted.value)}
        >
          M
        </button>
        <input
          type="range"
          min="-30"
          max={Math.max(GAIN_DB_MAX, fullDb)}
          step="1"
          value={gainDb.value}
          aria-label={`Gain of ${label} in dB`}
          onInput={({ currentTarget }) => (gainDb.value = Number(currentTarget.value))}
        />
        {output && <FurtherButton label={label} output={output} isHeld />}
      </div>
      <Waveform
        buffer={buffer}
        label={label}
        view={view}
        color={COLORS[kind]}
        position={mixer.position}
        onSeek={(seconds) => mixer.seek(seconds)}
        isSpectrogram={isSpectrogram}
        spans={spans}
        loop={mixer.loop.value}
        onDrag={(section) => mixer.setLoop(section)}
      />
    </section>
  )
}

/** What a target was softened by, as far as its loudest sample allows. */
function fullLevelDb({ finding, buffer }: Lane): number {
  const { state, softened_db: softer = 0 } = finding ?? {}
  if (state !== 'unsure' || softer < 1) return 0
  return Math.round(Math.max(0, Math.min(softer, -toDb(peakOf(buffer)))))
}

/** As loud as it was found. */
function FullLevel({ lane, mixer, db }: { lane: Lane; mixer: Mixer; db: number }) {
  const isFull = lane.gainDb.value === db
  const press = () => {
    lane.gainDb.value = isFull ? 0 : db
    if (isFull) return
    for (const other of mixer.lanes) other.isSolo.value = other === lane
    if (!mixer.isPlaying.value) void mixer.play()
  }
  return (
    <button class="further" aria-pressed={isFull} onClick={press}>
      Play at full level
    </button>
  )
}
