import { useEffect, useMemo, useState } from 'preact/hooks'
import { encodeWav } from '../../audio/wav.ts'
import type { Mixer } from '../../audio/mixer.ts'
import { predictedSpans } from '../../audio/spans.ts'
import type { LoadedResult } from '../../state/loaded-media.ts'
import type { OpenRequest } from '../../state/open-request.ts'
import { credential } from '../../state/credential.ts'
import { making, save } from '../../state/save.ts'
import { listenToKeys } from './keys.ts'
import { colorsOf } from './lane-colors.ts'
import { LaneRow } from './lane-row.tsx'
import { NullTest } from './null-test.tsx'
import { Playhead, Ruler } from './timeline.tsx'
import { Tools, Transport } from './transport.tsx'
import { Video } from './video.tsx'
import { createView } from '../waveform.tsx'

export function Player({ loaded, request }: { loaded: LoadedResult; request: OpenRequest }) {
  const { mixer } = loaded
  const view = useMemo(createView, [mixer])
  const [isSpectrogram, setSpectrogram] = useState(false)
  useEffect(() => listenToKeys(mixer), [mixer])
  const colors = colorsOf(mixer.lanes)
  const logs = request.status.value?.logs ?? []
  const spans = predictedSpans(logs.map(({ message }) => message)).map((span) => ({
    ...span,
    include: true,
  }))
  return (
    <div class="player">
      {loaded.isSilent && <p class="finding unsure">This file is silent.</p>}
      <Video result={loaded.result} mixer={mixer} />
      <Transport mixer={mixer} />
      <Tools {...{ mixer, view, isSpectrogram }} onSpectrogram={setSpectrogram} />
      <div class="lanes">
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
      {loaded.isMixtureSum && (
        <p class="quiet">
          The source is not in this browser: the mixture here is all outputs added up.
        </p>
      )}
      <div class="choice">
        {mixer.isRenderable && <SaveMix mixer={mixer} name={request.name} />}
        {credential.value && <NullTest loaded={loaded} />}
      </div>
      <Shortcuts />
    </div>
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
        A, B and the lanes as set, <kbd>←</kbd> <kbd>→</kbd> move by 5 seconds, <kbd>Home</kbd> goes
        to the start. <kbd>L</kbd> loops two seconds, <kbd>[</kbd> and <kbd>]</kbd> set where the
        loop starts and ends. With the mouse: press or drag on a lane to move, draw on the ruler to
        loop.
      </p>
    </details>
  )
}
