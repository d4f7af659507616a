import { whereOfHeard, type HeardSound } from '../../state/chip.ts'
import type { Source } from '../../state/draft.ts'
import { sending } from '../../state/open-request.ts'
import { askForSounds, soundsInFile } from '../../state/sounds-in-file.ts'
import { SoundChips } from './sound-chips.tsx'
import { Problem } from '../problem.tsx'

/**
 * Lists the sounds in the chosen media on request only, because it costs a tenth of what separating
 * does and uploads a file that its owner may still replace.
 */
export function SoundsInFile({ chosen }: { chosen: Source }) {
  const { isListening, sounds, problem } = soundsInFile.value
  return (
    <div class="in-file">
      {sounds === null && (
        <button
          type="button"
          disabled={isListening || sending.value !== null}
          onClick={() => void askForSounds(chosen)}
        >
          What is in it?
        </button>
      )}
      <p role="status" class="quiet">
        {isListening && 'Listening to it…'}
        {sounds && (sounds.length > 0 ? 'In this file, the most prominent first:' : NOTHING)}
      </p>
      {sounds && sounds.length > 0 && <Chips sounds={sounds} />}
      <Problem>{problem}</Problem>
    </div>
  )
}

const NOTHING = 'There is no sound in it that the service knows by name. Describe what you hear.'

const Chips = ({ sounds }: { sounds: readonly HeardSound[] }) => (
  <div role="group" aria-label="Sounds in this file" class="choice">
    <SoundChips
      sounds={sounds}
      nameOf={({ name }) => name}
      titleOf={(sound) => `At ${whereOfHeard(sound)}`}
    >
      {({ share }) => (
        <>
          {' '}
          <span class="share">{Math.round(100 * share)} %</span>
        </>
      )}
    </SoundChips>
  </div>
)
