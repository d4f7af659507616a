import { toDb } from '../../audio/levels.ts'
import type { Mixer } from '../../audio/mixer.ts'

/** In percent; at 100, only what is solo is heard. */
export const strengthOf = ({ mixedBack }: Mixer): number => Math.round(100 * (1 - mixedBack.value))

/**
 * Sets how much the lanes that are not solo are attenuated, in playback and in files made by the
 * page.
 */
export function Strength({ mixer }: { mixer: Mixer }) {
  const set = (percent: number) => (mixer.mixedBack.value = 1 - percent / 100)
  const isUsed = mixer.lanes.some(({ kind, isSolo }) => kind !== 'mixture' && isSolo.value)
  return (
    <label class="strength">
      Strength
      <input
        type="range"
        aria-label="Strength in percent"
        aria-describedby="strength"
        min="0"
        max="100"
        step="5"
        disabled={!isUsed}
        value={strengthOf(mixer)}
        onInput={({ currentTarget }) => set(Number(currentTarget.value))}
      />
      <output id="strength" class="quiet">
        {isUsed ? strengthText(mixer) : 'Solo a sound or the rest to use it.'}
      </output>
    </label>
  )
}

function strengthText(mixer: Mixer): string {
  const rest = mixer.mixedBack.value
  if (rest === 0) return '100 %: only this sound'
  const softer = Math.round(-toDb(rest))
  const level = softer === 0 ? 'at its own level' : `${softer} dB softer`
  return `${strengthOf(mixer)} %: the rest is mixed back, ${level}`
}
