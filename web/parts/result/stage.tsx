import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Mixer } from '../../audio/mixer.ts'
import type { Span } from '../../state/draft.ts'
import { createView } from '../waveform.tsx'
import { listenToKeys } from './keys.ts'
import { colorsOf } from './lane-colors.ts'
import { LaneRow } from './lane-row.tsx'
import { Playhead, Ruler } from './timeline.tsx'
import { Tools, Transport } from './transport.tsx'

interface StageProps {
  mixer: Mixer
  /** Shown on the mixture. */
  spans: readonly Span[]
}

/** The lanes of a mixer, with everything that plays them. */
export function Stage({ mixer, spans }: StageProps) {
  const view = useMemo(createView, [mixer])
  const [isSpectrogram, setSpectrogram] = useState(false)
  useEffect(() => listenToKeys(mixer), [mixer])
  const colors = colorsOf(mixer.lanes)
  return (
    <>
      <div class="bar">
        <Transport mixer={mixer} />
        <Tools {...{ mixer, view, isSpectrogram }} onSpectrogram={setSpectrogram} />
      </div>
      <div class={isSpectrogram ? 'lanes spectrograms' : 'lanes'}>
        <Ruler mixer={mixer} view={view} />
        {mixer.lanes.map((lane, i) => (
          <LaneRow
            key={i}
            lane={lane}
            color={colors[i]!}
            mixer={mixer}
            view={view}
            isSpectrogram={isSpectrogram}
            spans={lane.kind === 'mixture' ? spans : []}
          />
        ))}
        <Playhead mixer={mixer} view={view} />
      </div>
    </>
  )
}
