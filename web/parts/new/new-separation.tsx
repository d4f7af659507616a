import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { sourceWarning } from '../../state/source-warning.ts'
import { filledPrompts, mayWait, PROMPTS_MAX, prompts, source } from '../../state/draft.ts'
import { sending, sendProblem, separate } from '../../state/open-request.ts'
import { separateFiles } from '../../state/file-queue.ts'
import { loadSeparatorsUntilKnown, soundNames } from '../../state/separators.ts'
import { Answers, Stems } from './answers.tsx'
import { focusIfLost, useLostFocus } from '../focus.ts'
import { Options } from './options.tsx'
import { PromptHelp } from './prompt-help.tsx'
import { Snippets } from './snippets.tsx'
import { SoundList } from './sound-list.tsx'
import { SoundsInFile } from './sounds-in-file.tsx'
import { SourcePicker } from './source-picker.tsx'
import { Spans } from './spans.tsx'
import { Tasks } from './tasks.tsx'
import { Problem } from '../problem.tsx'

export function NewSeparation() {
  const heading = useLostFocus<HTMLHeadingElement>()
  const prompt = useRef<HTMLInputElement>(null)
  const chosen = source.value
  const isOutput = chosen?.kind === 'output'
  // If an output is to be separated further, only the sound is missing.
  useEffect(() => {
    if (isOutput) prompt.current!.focus()
  }, [isOutput])
  useEffect(loadSeparatorsUntilKnown, [])
  const hasPrompt = filledPrompts().length > 0
  const isReady = chosen !== null && hasPrompt
  const lacks = [...(chosen ? [] : ['a file']), ...(hasPrompt ? [] : ['a sound in words'])]
  const missing = lacks.length === 0 ? '' : `Still needed: ${lacks.join(' and ')}.`
  const send = (event: Event) => {
    event.preventDefault()
    if (sourceWarning.value && !confirm(`${sourceWarning.value} Send it anyway?`)) return
    if (chosen?.kind === 'files') separateFiles(chosen)
    else if (chosen) void separate(chosen)
  }
  return (
    <section class="card" aria-labelledby="new">
      <h1 id="new" ref={heading} tabIndex={-1}>
        What do you want to take out?
      </h1>
      <form onSubmit={send}>
        <SourcePicker />
        {chosen && chosen.kind !== 'files' && <SoundsInFile chosen={chosen} />}
        <Tasks />
        <Prompts first={prompt} />
        <Stems />
        <Answers />
        <SoundList />
        <PromptHelp />
        {chosen && 'bytes' in chosen && chosen.bytes && <Spans bytes={chosen.bytes} />}
        <Options />
        {chosen?.kind === 'files' && <MayWait />}
        <Send missing={missing} />
      </form>
      {isReady && chosen.kind !== 'files' && <Snippets source={chosen} />}
    </section>
  )
}

/** Lets the requests of others go first, because nobody may be waiting for a long list of files. */
const MayWait = () => (
  <label class="check">
    <input
      type="checkbox"
      checked={mayWait.value}
      onChange={({ currentTarget: { checked } }) => (mayWait.value = checked)}
    />
    These files may take until later: let others go first
  </label>
)

/** @param missing what the form still needs; empty if nothing */
function Send({ missing }: { missing: string }) {
  const current = sending.value
  const isSending = current !== null
  const wasSending = useRef(isSending)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (wasSending.current !== isSending) focusIfLost(button.current)
    wasSending.current = isSending
  }, [isSending])
  return (
    <div class="send">
      <Problem>{sendProblem.value}</Problem>
      {/* Keyed: otherwise Cancel would become Separate while it is pressed, and send. */}
      {current ? (
        <div key="sending" class="sending">
          <label>
            {current.part < 1 ? 'Uploading' : 'Submitting'}
            <progress value={current.part} />
          </label>
          <button ref={button} type="button" onClick={() => current.abort.abort()}>
            Cancel
          </button>
        </div>
      ) : (
        <div key="ready" class="sending">
          <button ref={button} class="primary" disabled={missing !== ''} aria-describedby="missing">
            Separate
          </button>
          <span id="missing" class="quiet">
            {missing}
          </span>
        </div>
      )}
    </div>
  )
}

/** One field for each prompt, and a button that adds another. */
function Prompts({ first }: { first: RefObject<HTMLInputElement | null> }) {
  const list = prompts.value
  const fields = useRef<HTMLFieldSetElement>(null)
  const focused = useRef<number | null>(null)
  useEffect(() => {
    if (focused.current !== null) {
      fields.current!.querySelectorAll('input')[focused.current]!.focus()
    }
    focused.current = null
  }, [list.length])
  /** Sets the prompts and moves the focus to the field of one of them. */
  const replace = (next: string[], i: number) => {
    prompts.value = next
    focused.current = i
  }
  const set = (i: number, text: string) =>
    (prompts.value = list.map((old, j) => (j === i ? text : old)))
  return (
    <fieldset ref={fields}>
      <legend>Sounds, in plain words</legend>
      {list.map((prompt, i) => (
        <div class="prompt" key={i}>
          <input
            ref={i === 0 ? first : null}
            aria-label={`Prompt ${i + 1}`}
            value={prompt}
            maxLength={500}
            list="sounds"
            placeholder={i === 0 ? 'piano, dog barking, a man speaking …' : 'another sound'}
            onInput={({ currentTarget }) => set(i, currentTarget.value)}
          />
          {list.length > 1 && (
            <button
              type="button"
              aria-label={`Remove prompt ${i + 1}`}
              onClick={() =>
                replace(
                  list.filter((_, j) => j !== i),
                  Math.max(0, i - 1),
                )
              }
            >
              ×
            </button>
          )}
        </div>
      ))}
      <datalist id="sounds">
        {soundNames().map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {list.length < PROMPTS_MAX && (
        <button type="button" class="link" onClick={() => replace([...list, ''], list.length)}>
          Add another sound
        </button>
      )}
    </fieldset>
  )
}
