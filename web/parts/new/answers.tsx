import { useEffect, useState } from 'preact/hooks'
import { SONG_HINT } from '../../../shared/prompts/song-hint.ts'
import { songStemsOf } from '../../../shared/tasks.ts'
import { adminToken, showAdmin } from '../../state/admin.ts'
import { filledPrompts, options } from '../../state/draft.ts'
import { task } from '../../state/chosen-task.ts'
import { answerTo, isSongHintDue, separators, separatorsProblem } from '../../state/separators.ts'
import { SoundChips } from './sound-chips.tsx'

/** A screen reader should not be interrupted by every keystroke. */
const QUIET_MS = 500

/** Says what each prompt takes out, and by which model, once the user stops typing. */
export function Answers() {
  const { separator } = options.value
  const prompts = separators.value.length > 0 ? filledPrompts() : []
  const text = prompts.map((prompt) => answerTo(prompt, separator ?? undefined)).join('\n')
  const [said, setSaid] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSaid(text), QUIET_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <>
      <div role="status" aria-label="Who answers" class="answers quiet">
        {said.split('\n').map((line) => line !== '' && <p key={line}>{line}</p>)}
        {separatorsProblem.value !== '' && (
          <p>The models are not known: {separatorsProblem.value}</p>
        )}
      </div>
      {(lacksStems() || isSongHintDue(prompts, separator ?? undefined)) && <SongHint />}
    </>
  )
}

/** Names a better model for songs. An admin can install it here; others can ask an admin to. */
function SongHint() {
  const [before, command, after] = SONG_HINT.split('`')
  const isAdmin = adminToken.value !== null
  return (
    <p class="quiet">
      {before}
      <code>{command}</code>
      {after}, for whoever runs this service: see{' '}
      {isAdmin && (
        <>
          <button type="button" class="link" onClick={() => showAdmin('models')}>
            the models
          </button>{' '}
          and{' '}
        </>
      )}
      <a href="docs/how-to/songs.html">the guide</a>.
    </p>
  )
}

/**
 * The stems of a song as buttons. Without a model for songs, a message for people who want to split
 * one.
 */
export function Stems() {
  const stems = songStemsOf(separators.value)
  if (separators.value.length === 0) return null
  if (stems.length === 0) {
    return lacksStems() ? <p class="quiet">No model for songs is installed.</p> : null
  }
  const names = stems.includes('vocals') ? [...stems, 'instrumental'] : stems
  return (
    <div role="group" aria-label="Stems" class="choice">
      <SoundChips sounds={names} nameOf={(name) => name} isLarge />
    </div>
  )
}

/** Whether somebody wants to split a song and no installed model can. */
const lacksStems = (): boolean =>
  task.value.prompts === 'stems' &&
  separators.value.length > 0 &&
  songStemsOf(separators.value).length === 0
