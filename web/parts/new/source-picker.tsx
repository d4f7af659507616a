import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { record, type Recording } from '../../audio/record.ts'
import {
  choose,
  filesDropped,
  filesListed,
  sizeText,
  type PickedFile,
} from '../../state/choose-files.ts'
import { setSource, source, type SeveralFiles, type Source } from '../../state/draft.ts'
import { silent } from '../../state/silence.ts'
import { Examples } from './examples.tsx'

const problem = signal('')
source.subscribe(() => (problem.value = ''))

/** Puts what is found into the form, or says why not. */
async function take(found: PickedFile[] | Promise<PickedFile[]>): Promise<void> {
  problem.value = ''
  try {
    choose(await found)
  } catch (error) {
    problem.value = (error as Error).message
  }
}

export function SourcePicker() {
  const [isOver, setOver] = useState(false)
  return (
    <fieldset
      class={`drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        if (event.dataTransfer) void take(filesDropped(event.dataTransfer))
      }}
    >
      <legend>Audio or video</legend>
      <p class="chosen">
        <span role="status">{source.value && <strong>{textOf(source.value)}</strong>}</span>{' '}
        {source.value ? (
          <button type="button" class="link" onClick={() => setSource(null)}>
            Remove
          </button>
        ) : (
          'Drop a file here, several, or a folder, or'
        )}
      </p>
      <p role="alert" class="problem">
        {problem.value || (silent.value && 'This file is silent: there is nothing to separate.')}
      </p>
      <div class="ways">
        <FileInput label="Choose files" accept="audio/*,video/*" />
        {hasFolders && <FileInput label="Choose a folder" webkitdirectory />}
        <Microphone />
      </div>
      <Address />
      <Examples onProblem={(text) => (problem.value = text)} />
    </fieldset>
  )
}

/** Phones have none to choose. */
const hasFolders = 'webkitdirectory' in HTMLInputElement.prototype

type FileInputProps = { label: string } & ({ accept: string } | { webkitdirectory: true })

function FileInput({ label, ...kind }: FileInputProps) {
  return (
    <label class="button">
      {label}
      <input
        type="file"
        multiple
        {...kind}
        onChange={({ currentTarget }) => {
          const found = filesListed(currentTarget.files)
          currentTarget.value = '' // so that the same ones can be chosen again
          if (found.length > 0) void take(found)
        }}
      />
    </label>
  )
}

/** The form's media, in words. */
function textOf(chosen: Source | SeveralFiles): string {
  if (chosen.kind === 'address') return chosen.url
  if (chosen.kind === 'output') {
    const what = chosen.place.output === 'source' ? 'the source' : 'an output'
    return `${chosen.name}, ${what} of an earlier request`
  }
  if (chosen.kind === 'file') return `${chosen.name}, ${sizeText(chosen.bytes.size)}`
  const { files, leftOut } = chosen
  const bytes = files.reduce((sum, { source }) => sum + source.bytes.size, 0)
  const rest = leftOut === 0 ? '' : `; ${leftOut} more are no audio or video and left out`
  return `${files.length} files, ${sizeText(bytes)}${rest}`
}

function Address() {
  const [url, setUrl] = useState('')
  const use = () => {
    if (url.trim()) setSource({ kind: 'address', url: url.trim() })
  }
  return (
    <label>
      or a public https address
      <input
        type="url"
        inputMode="url"
        placeholder="https://…"
        value={url}
        onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        onChange={use}
      />
    </label>
  )
}

function Microphone() {
  const [recording, setRecording] = useState<Recording | null>(null)
  const start = async () => {
    problem.value = ''
    setRecording(await record())
  }
  const stop = async (current: Recording) => {
    setRecording(null)
    setSource({ kind: 'file', ...(await current.stop()) })
  }
  const act = () => (recording ? stop(recording) : start())
  return (
    <button
      type="button"
      aria-pressed={recording !== null}
      onClick={() =>
        void act().catch((error: Error) => {
          problem.value = `The microphone can't be used: ${error.message}`
        })
      }
    >
      {recording ? 'Stop recording' : 'Record'}
    </button>
  )
}
