import { useEffect, useState } from 'preact/hooks'
import { SONG_HINT } from '../../../shared/prompts/song-hint.ts'
import { songStemsOf } from '../../../shared/tasks.ts'
import { adminToken, showAdmin } from '../../state/admin.ts'
import { filledPrompts, options, PROMPTS_MAX, togglePrompt } from '../../state/draft.ts'
import { task } from '../../state/chosen-task.ts'
import { answerTo, isSongHintDue, separators, separatorsProblem } from '../../state/separators.ts'

/** A screen reader should not be interrupted by every keystroke. */
const QUIET_MS = 500

/**
 * Says what is taken out for each prompt and by which model, once nobody has typed for a moment.
 */
export function Answers() {
  const isKnown = separators.value.length > 0
  const { separator } = options.value
  const asked = isKnown ? filledPrompts() : []
  const text = asked.map((prompt) => answerTo(prompt, separator ?? undefined)).join('\n')
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
      {(lacksStems() || isSongHintDue(asked, separator ?? undefined)) && <SongHint />}
    </>
  )
}

/**
 * Users of the page cannot install it, but can tell somebody who can. An admin can install it here.
 */
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
 * The stems of a song as buttons, or a message for people who want to split a song if there are
 * none.
 */
export function Stems() {
  const stems = songStemsOf(separators.value)
  if (separators.value.length === 0) return null
  if (stems.length === 0) return lacksStems() ? <NoStems /> : null
  const names = stems.includes('vocals') ? [...stems, 'instrumental'] : stems
  const given = filledPrompts().map((prompt) => prompt.toLowerCase())
  const isFull = given.length >= PROMPTS_MAX
  return (
    <div role="group" aria-label="Stems" class="choice">
      {names.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={given.includes(name)}
          disabled={isFull && !given.includes(name)}
          onClick={() => togglePrompt(name)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}

/** Whether somebody wants to split a song and no installed model can. */
const lacksStems = (): boolean =>
  task.value.prompts === 'stems' &&
  separators.value.length > 0 &&
  songStemsOf(separators.value).length === 0

function NoStems() {
  return <p class="quiet">No model for songs is installed.</p>
}
