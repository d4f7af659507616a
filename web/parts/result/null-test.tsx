import { useState } from 'preact/hooks'
import type { LoadedResult } from '../../state/loaded-media.ts'

/** Two roundings of 24-bit samples; anything smaller could not be stored. */
const ROUNDING_DB = -130

/** Shows that nothing was added and nothing lost. */
export function NullTest({ loaded }: { loaded: LoadedResult }) {
  const [text, setText] = useState('')
  const run = async () => {
    setText('Rendering…')
    const peak = await loaded.nullTest()
    const level = Number.isFinite(peak) ? `${peak.toFixed(1)} dB` : 'digital silence'
    const verdict =
      peak < ROUNDING_DB
        ? 'nothing was added and nothing lost.'
        : 'lossy formats differ by that much; WAV and FLAC should not.'
    const { gain_db: gainDb = 0 } = loaded.result.data
    const lowered = gainDb < 0 ? `, lowered by ${-gainDb} dB as they are,` : ''
    setText(`Mixture${lowered} minus targets minus residual peaks at ${level}: ${verdict}`)
  }
  return (
    <div class="null-test">
      <button
        disabled={!loaded.hasOriginal}
        onClick={() => void run().catch((error: Error) => setText(error.message))}
      >
        Null test
      </button>
      <output>
        {text ||
          (loaded.hasOriginal
            ? ''
            : 'Needs the original file, short enough to decode in the browser.')}
      </output>
    </div>
  )
}
