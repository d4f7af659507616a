import { useEffect, useState } from 'preact/hooks'
import { stemOf } from '../../../shared/file-name.ts'
import { planesOf } from '../../audio/decode.ts'
import { toDb } from '../../audio/levels.ts'
import { integratedLoudness, truePeak } from '../../audio/loudness.ts'
import type { Mixer } from '../../audio/mixer.ts'
import { predictedSpans } from '../../audio/spans.ts'
import type { LoadedResult } from '../../state/loaded-media.ts'
import type { OpenRequest } from '../../state/open-request.ts'
import { credential } from '../../state/credential.ts'
import { making, save, saveAs } from '../../state/save.ts'
import { NullTest } from './null-test.tsx'
import { Stage } from './stage.tsx'
import { Video } from './video.tsx'

export function Player({ loaded, request }: { loaded: LoadedResult; request: OpenRequest }) {
  const { mixer } = loaded
  const logs = request.status.value?.logs ?? []
  const spans = predictedSpans(logs.map(({ message }) => message))
  return (
    <div class="player">
      {loaded.isSilent && <p class="finding unsure">This file is silent.</p>}
      <Video result={loaded.result} mixer={mixer} />
      <Stage mixer={mixer} spans={spans} />
      {loaded.isMixtureSum && (
        <p class="quiet">
          The original isn’t in this browser, so the mixture shown is the sum of all outputs.
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

/** Saves the mix as it sounds now, and measures how loud it is. */
function SaveMix({ mixer, name }: { mixer: Mixer; name: string }) {
  const [loudness, setLoudness] = useState('')
  const levels = mixer.levels.value
  useEffect(() => setLoudness(''), [levels]) // the loudness was that of another mix
  const render = async () => {
    const rendered = mixer.levels.peek()
    const mix = await mixer.render()
    if (mixer.levels.peek() === rendered) setLoudness(loudnessText(mix))
    return mix
  }
  const mixName = `${stemOf(name)}.mix.wav`
  return (
    <>
      <button disabled={making.value !== null} onClick={() => void saveAs(mixName, 'wav', render)}>
        Save this mix
      </button>
      <button
        disabled={making.value !== null}
        onClick={() =>
          void save(mixName, async () => {
            await render()
            return null // only to be measured
          })
        }
      >
        Measure it
      </button>
      <span role="status" class="quiet">
        {loudness}
      </span>
    </>
  )
}

/** For example `-14.2 LUFS, true peak -1.0 dBTP`. */
function loudnessText(mix: AudioBuffer): string {
  const planes = planesOf(mix)
  const lufs = integratedLoudness(planes, mix.sampleRate)
  const peak = toDb(truePeak(planes))
  if (!Number.isFinite(lufs)) return 'This mix is silent.'
  return `${lufs.toFixed(1)} LUFS, true peak ${peak.toFixed(1)} dBTP`
}

function Shortcuts() {
  return (
    <details>
      <summary>Keys and mouse</summary>
      <p class="quiet">
        <kbd>Space</kbd> plays. <kbd>1</kbd> to <kbd>9</kbd> play one lane alone, and with{' '}
        <kbd>Shift</kbd> add or remove it. <kbd>B</kbd> cycles through A, B and your mix.{' '}
        <kbd>←</kbd> and <kbd>→</kbd> move by 5 seconds, and <kbd>Home</kbd> goes to the start.{' '}
        <kbd>L</kbd> loops two seconds, <kbd>[</kbd> and <kbd>]</kbd> set the ends of the loop. With
        the mouse: click or drag on a lane to seek, drag on the ruler to loop.
      </p>
    </details>
  )
}
