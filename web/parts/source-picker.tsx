import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { record, type Recording } from '../audio/record.ts'
import { setSource, source } from '../state/draft.ts'

/** Names of the examples, and where they lie; set by the build. */
declare const EXAMPLES: Readonly<Record<string, string>>

const problem = signal('')

function takeFile(file: File): void {
  problem.value = ''
  const contentType = file.type || 'application/octet-stream'
  setSource({ kind: 'file', name: file.name, contentType, bytes: file })
}

async function takeExample(name: string, address: string): Promise<void> {
  const reply = await fetch(address)
  const bytes = await reply.blob()
  setSource({ kind: 'file', name, contentType: 'audio/wav', bytes })
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
        const [file] = event.dataTransfer?.files ?? []
        if (file) takeFile(file)
      }}
    >
      <legend>Audio or video</legend>
      <p class="chosen" role="status">
        {source.value ? <Chosen /> : 'Drop a file here, or'}
      </p>
      <div class="ways">
        <label class="button">
          Choose a file
          <input
            type="file"
            accept="audio/*,video/*"
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? []
              if (file) takeFile(file)
            }}
          />
        </label>
        <Microphone />
      </div>
      <Address />
      <p class="examples">
        <span class="quiet">Examples:</span>{' '}
        {Object.entries(EXAMPLES).map(([name, address]) => (
          <button
            key={name}
            type="button"
            class="link"
            onClick={() =>
              void takeExample(name, address).catch((error: Error) => {
                problem.value = error.message
              })
            }
          >
            {name.replace(/\..*$/, '').replaceAll('-', ' ')}
          </button>
        ))}
      </p>
      <p role="alert" class="problem">
        {problem.value}
      </p>
    </fieldset>
  )
}

const sizeText = (bytes: number): string =>
  bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

function Chosen() {
  const chosen = source.value!
  const text =
    chosen.kind === 'address'
      ? chosen.url
      : `${chosen.name}, ${sizeText(chosen.bytes.size)}`
  return (
    <>
      <strong>{text}</strong>{' '}
      <button type="button" class="link" onClick={() => setSource(null)}>
        Remove
      </button>
    </>
  )
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
