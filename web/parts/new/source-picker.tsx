import { signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { record, type Recording } from '../../audio/record.ts'
import {
  choose,
  filesDropped,
  filesListed,
  sizeText,
  type PickedFile,
} from '../../state/choose-files.ts'
import {
  beginChoice,
  setSource,
  source,
  type SeveralFiles,
  type Source,
} from '../../state/draft.ts'
import { sourceWarning } from '../../state/source-warning.ts'
import { Examples } from './examples.tsx'
import { Problem } from '../problem.tsx'

const problem = signal('')
source.subscribe(() => (problem.value = ''))

/** Puts files into the form, or shows why it cannot. */
async function take(picked: PickedFile[] | Promise<PickedFile[]>): Promise<void> {
  const isLatest = beginChoice()
  problem.value = ''
  try {
    const files = await picked
    if (isLatest()) choose(files)
  } catch (error) {
    if (isLatest()) problem.value = (error as Error).message
  }
}

/** The source of the media: one big area as long as there is none, a line afterwards. */
export function SourcePicker() {
  const isOver = useFilesFromPage()
  const chosen = source.value
  return (
    <>
      <fieldset class={`drop ${chosen ? 'chosen' : 'empty'} ${isOver ? 'over' : ''}`}>
        <legend class="spoken">Audio or video</legend>
        {!chosen && <DropPicture />}
        <p class="drop-text">
          <span role="status">{chosen && <strong>{sourceText(chosen)}</strong>}</span>{' '}
          {chosen ? (
            <button type="button" class="link" onClick={() => setSource(null)}>
              Remove
            </button>
          ) : (
            'Drop audio or video here'
          )}
        </p>
        {!chosen && <p class="quiet">One file, several, or a folder. Or paste a file.</p>}
        <Problem>{problem.value || sourceWarning.value}</Problem>
        <div class="ways">
          <FileInput label="Choose files" accept="audio/*,video/*" isMain={!chosen} />
          {hasFolders && <FileInput label="Choose a folder" webkitdirectory />}
          <Microphone />
        </div>
        <Address />
      </fieldset>
      {/* Keyed: they fold once there is a file, and anybody may open them again. */}
      <details class="example-list" key={chosen ? 'folded' : 'open'} open={!chosen}>
        <summary>Examples to try</summary>
        <Examples onProblem={(text) => (problem.value = text)} />
      </details>
    </>
  )
}

/**
 * Takes files that are dropped or pasted anywhere on the page.
 * @returns whether files are being dragged over it
 */
function useFilesFromPage(): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const listening = new AbortController()
    const listen = <Name extends keyof DocumentEventMap>(
      name: Name,
      act: (event: DocumentEventMap[Name]) => void,
    ) => document.addEventListener(name, act, listening)
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    listen('dragover', (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(true)
    })
    listen('dragleave', (event) => {
      if (event.relatedTarget === null) setOver(false) // the pointer has left the window
    })
    listen('drop', (event) => {
      setOver(false)
      if (!event.dataTransfer || !hasFiles(event)) return
      event.preventDefault()
      void take(filesDropped(event.dataTransfer))
    })
    listen('paste', ({ clipboardData }) => {
      const files = filesListed(clipboardData?.files ?? null)
      if (files.length > 0) void take(files)
    })
    return () => listening.abort()
  }, [])
  return isOver
}

function DropPicture() {
  return (
    <svg class="drop-picture" viewBox="0 0 120 56" aria-hidden="true">
      <path d="M6 24v8M16 18v20M26 10v36M36 20v16M46 14v28" />
      <path d="M74 14v28M84 20v16M94 8v40M104 18v20M114 24v8" />
      <path class="lifted" d="M60 4v30M50 24l10 10 10-10" />
      <path d="M48 50h24" />
    </svg>
  )
}

/** Phones have no folders to choose. */
const hasFolders = 'webkitdirectory' in HTMLInputElement.prototype

type FileInputProps = { label: string; isMain?: boolean } & (
  { accept: string } | { webkitdirectory: true }
)

function FileInput({ label, isMain = false, ...kind }: FileInputProps) {
  return (
    <label class={`button ${isMain ? 'primary' : ''}`}>
      {label}
      <input
        type="file"
        multiple
        {...kind}
        onChange={({ currentTarget }) => {
          const files = filesListed(currentTarget.files)
          currentTarget.value = '' // so that the same files can be chosen again
          if (files.length > 0) void take(files)
        }}
      />
    </label>
  )
}

/** Describes the media in the form. */
function sourceText(chosen: Source | SeveralFiles): string {
  if (chosen.kind === 'address') return chosen.url
  if (chosen.kind === 'output') {
    const file = chosen.place.output === 'source' ? 'the source' : 'an output'
    return `${chosen.name}, ${file} of an earlier request`
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
    <label class="address">
      <span>or a public https address</span>
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
  const leaving = useMemo(() => new AbortController(), [])
  useEffect(() => () => leaving.abort(), [])
  const start = async () => {
    problem.value = ''
    setRecording(await record(leaving.signal))
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
          if (leaving.signal.aborted) return
          problem.value = `The microphone can't be used: ${error.message}`
        })
      }
    >
      {recording ? 'Stop recording' : 'Record'}
    </button>
  )
}
