import { computed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../../state/credential.ts'
import { canSaveAll, savedText, saveAll, saving } from '../../state/save-all.ts'
import {
  cancelAll,
  cancelEntry,
  counts,
  entries,
  forgetFiles,
  sendWaitingFiles,
  hasAdded,
  listenTo,
  outcomeOf,
  problem,
  stopped,
  type Entry,
  type EntryState,
} from '../../state/file-queue.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { leftOf, statusText } from '../status-text.ts'
import { Problem } from '../problem.tsx'

/** Files that were sent together, with a line for each and a total. */
export function SeveralFiles() {
  const list = entries.value
  if (list.length === 0) return null
  return (
    <section class="card" aria-labelledby="files">
      <Title />
      <Total />
      <Problems />
      <SaveAll />
      <ul class="files">
        {list.map((entry, i) => (
          <Row key={i} entry={entry} />
        ))}
      </ul>
    </section>
  )
}

const isOver = computed(() => counts.value.ended === counts.value.all)

function Title() {
  const heading = useRef<HTMLHeadingElement>(null)
  const { length } = entries.value
  // The focus was on the form's button, which is disabled now, or in the player, which has closed.
  useEffect(() => {
    if (hasAdded.peek()) heading.current!.focus()
  }, [length])
  return (
    <div class="title">
      <h2 id="files" ref={heading} tabIndex={-1}>
        Files
      </h2>
      {isOver.value ? (
        <button onClick={forgetFiles}>Close the list</button>
      ) : (
        <span>
          <ConfirmedButton
            action="Cancel all"
            target="files"
            act={async () => {
              await cancelAll()
              return null
            }}
          />
        </span>
      )}
    </div>
  )
}

function Total() {
  const { all, ended, separated, failed, canceled } = counts.value
  const parts = [
    `${separated} of ${all} separated`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(canceled > 0 ? [`${canceled} canceled`] : []),
  ]
  return (
    <div class="progress">
      <strong role="status">{parts.join(', ')}</strong>
      <TimeLeft />
      {!isOver.value && <progress aria-label="Files that have ended" value={ended} max={all} />}
    </div>
  )
}

/**
 * Seconds until the last submitted file has ended; undefined while files are waiting to be sent.
 */
const secondsLeft = computed(() => {
  const states = entries.value.map(({ state }) => state.value).filter((state) => !outcomeOf(state))
  const left = states.map((state) =>
    state.kind === 'submitted' ? state.status?.estimated_seconds_left : undefined,
  )
  return left.includes(undefined) ? undefined : Math.max(...(left as number[]))
})

function TimeLeft() {
  const left = secondsLeft.value
  return left !== undefined && left > 0 ? <span class="quiet">{leftOf(left)}</span> : null
}

function Problems() {
  return (
    <>
      {stopped.value && (
        <Problem>
          {stopped} Uploads are paused. <button onClick={sendWaitingFiles}>Resume</button>
        </Problem>
      )}
      <Problem>{problem}</Problem>
    </>
  )
}

function SaveAll() {
  if (!canSaveAll || counts.value.separated === 0) return null
  const current = saving.value
  return (
    <div class="downloads">
      {current ? (
        <>
          <button onClick={() => current.abort.abort()}>Stop saving</button>
          <progress aria-label="Saved" value={current.done} max={current.all} />
        </>
      ) : (
        <button onClick={() => void saveAll()}>Save all into a folder</button>
      )}
      <output>{savedText}</output>
    </div>
  )
}

/** The text of a state. Failures say why, in red, so that they stand out among many lines. */
function textOfState(state: EntryState): { text: string; isFailure?: boolean } {
  if (state.kind === 'sending') return { text: `uploading, ${Math.round(100 * state.part)} %` }
  if (state.kind === 'held') return { text: `waiting: ${state.why}` }
  if (state.kind === 'failed') return { text: state.why, isFailure: true }
  if (state.kind !== 'submitted') return { text: state.kind }
  const { status } = state
  if (!status) return { text: 'submitted' }
  if (outcomeOf(state) === 'canceled') return { text: 'canceled' }
  if (!status.error) return { text: statusText(status) }
  return { text: `${status.error.code}: ${status.error.message}`, isFailure: true }
}

/** Progress of the current step, from 0 to 1; undefined if the file is waiting or has ended. */
function partOf(state: EntryState): number | undefined {
  if (state.kind === 'sending') return state.part
  if (state.kind !== 'submitted' || state.status?.status !== 'IN_PROGRESS') return undefined
  return state.status.progress ?? 0
}

function Row({ entry }: { entry: Entry }) {
  const { path, prompts, state } = entry
  const current = state.value
  const { text, isFailure = false } = textOfState(current)
  const outcome = outcomeOf(current)
  const part = partOf(current)
  const listen = () => {
    entry.problem.value = ''
    listenTo(entry).catch((error: unknown) => (entry.problem.value = messageOf(error)))
  }
  return (
    <li>
      <strong>{path}</strong>
      <span class="quiet">{prompts.join(', ')}</span>
      <span class={isFailure ? 'problem' : `state ${outcome ?? ''}`}>
        {text}
        {part !== undefined && <progress aria-label={`Progress of ${path}`} value={part} />}
      </span>
      {outcome === 'separated' && (
        <button aria-label={`Listen to ${path}`} onClick={listen}>
          Listen
        </button>
      )}
      {!outcome && (
        <button aria-label={`Cancel ${path}`} onClick={() => void cancelEntry(entry)}>
          Cancel
        </button>
      )}
      <Problem>{entry.problem.value}</Problem>
    </li>
  )
}
