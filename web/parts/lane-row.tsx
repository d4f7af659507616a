import type { Lane, LaneKind, Mixer } from '../audio/mixer.ts'
import type { Span } from '../state/draft.ts'
import { FurtherButton } from './further-button.tsx'
import { Waveform, type View } from './waveform.tsx'

const COLORS: Readonly<Record<LaneKind, string>> = {
  mixture: '#7386a8',
  target: '#2f6fed',
  residual: '#b4622d',
}

interface LaneRowProps {
  lane: Lane
  mixer: Mixer
  view: View
  isSpectrogram: boolean
  spans: readonly Span[]
}

export function LaneRow({ lane, mixer, view, isSpectrogram, spans }: LaneRowProps) {
  const { label, kind, buffer, output, isSolo, isMuted, gainDb } = lane
  return (
    <section class={`lane ${kind}`} aria-label={label}>
      <div class="lane-head">
        <div class="lane-name">
          <h2>{label}</h2>
          <span class="quiet">{gainDb.value} dB</span>
        </div>
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
          max="12"
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
