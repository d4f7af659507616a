import { useEffect, useRef, useState } from 'preact/hooks'
import type { Result } from '../../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../../state/credential.ts'
import { promptsOf, useEarlierRequests } from '../../state/earlier-requests.ts'
import { outputsOf } from '../../state/loaded-media.ts'
import {
  deleteRequest,
  openListed,
  separateAgain,
  type RequestListItem,
} from '../../state/open-request.ts'
import { renameRequest } from '../../state/rename.ts'
import { focusIfLost } from '../focus.ts'
import { PastTime } from '../time.tsx'
import { Usage } from './usage.tsx'
import { Problem } from '../problem.tsx'

const STATES = {
  IN_QUEUE: 'in the queue',
  IN_PROGRESS: 'in progress',
  COMPLETED: 'completed',
  FAILED: 'failed',
} as const

/** Whether there is something to listen to. */
const hasOutputs = ({ status, retention }: RequestListItem): boolean =>
  status === 'COMPLETED' && (!retention || Date.parse(retention.delete_after) > Date.now())

function stateOf(request: RequestListItem): string {
  const { status, error } = request
  if (status === 'COMPLETED' && !hasOutputs(request)) return 'outputs deleted'
  return error?.code === 'CANCELED' ? 'canceled' : STATES[status]
}

/** The account's requests, newest first, and its usage. */
export function History() {
  const [search, setSearch] = useState('')
  const earlier = useEarlierRequests(search)
  const { rows, searched, isSearching, more, problem, setProblem } = earlier
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => focusIfLost(heading.current), [rows.length])
  const open = (listed: RequestListItem) =>
    openListed(listed).catch((error: unknown) => setProblem(messageOf(error)))
  const nothing =
    search.trim() === '' ? 'None. What you separate is listed here.' : `None of ${searched} fits.`
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history" ref={heading} tabIndex={-1}>
        Earlier requests
      </h2>
      <label>
        Search by sound or file name
        <input
          type="search"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      </label>
      <Problem>{problem}</Problem>
      <p role="status" class="quiet">
        {rows.length === 0 && (isSearching ? 'Looking…' : !problem && nothing)}
      </p>
      <ul class="history">
        {rows.map((request) => (
          <Row
            key={request.request_id}
            request={request}
            onOpen={() => void open(request)}
            onRenamed={(name) => earlier.rename(request.request_id, name)}
            onDeleted={() => earlier.forget(request.request_id)}
          />
        ))}
      </ul>
      {more && <button onClick={more}>Show more</button>}
      <Usage />
    </section>
  )
}

interface RowProps {
  request: RequestListItem
  onOpen: () => void
  onRenamed: (name: string) => void
  onDeleted: () => void
}

function Row({ request, onOpen, onRenamed, onDeleted }: RowProps) {
  const [problem, setProblem] = useState('')
  const [result, setResult] = useState<Result | null>(null)
  const state = stateOf(request)
  const playing = result ? 'Stop' : 'Play'
  const name = `${promptsOf(request)} from ${request.file_name}`
  const fail = (error: unknown) => setProblem(messageOf(error))
  const play = () => {
    setProblem('')
    if (result) setResult(null)
    else currentClient().result(request).then(setResult, fail)
  }
  const rename = async () => {
    setProblem('')
    const next = await renameRequest(request.request_id, request.file_name)
    if (next !== null) onRenamed(next)
  }
  const remove = () => {
    setProblem('')
    if (!confirm(questionOf(request))) return
    deleteRequest(request.request_id).then(onDeleted, fail)
  }
  return (
    <li>
      <button class="row" onClick={onOpen}>
        <strong>{promptsOf(request)}</strong>
        <span class={`state ${state}`}>{state}</span>
        <span class="quiet">from {request.file_name}</span>
        <PastTime at={request.created_at} />
      </button>
      {hasOutputs(request) && (
        <button aria-label={`${playing} ${name}`} onClick={play}>
          {playing}
        </button>
      )}
      <button
        aria-label={`Separate again: ${name}`}
        onClick={() => void separateAgain(request).catch(fail)}
      >
        Separate again
      </button>
      <button aria-label={`Rename ${name}`} onClick={() => void rename().catch(fail)}>
        Rename
      </button>
      <button aria-label={`Delete ${name}`} onClick={remove}>
        Delete
      </button>
      {result && <Sounds request={request} result={result} />}
      <Problem>{problem}</Problem>
    </li>
  )
}

/** Only one sound of the page plays at a time. */
function pauseOthers({ currentTarget }: { currentTarget: HTMLAudioElement }): void {
  for (const audio of document.querySelectorAll('audio')) {
    if (audio !== currentTarget) audio.pause()
  }
}

/** Each output in the browser's own player; the first starts at once. */
function Sounds({ request, result }: { request: RequestListItem; result: Result }) {
  const { request_id: id, prompt, prompts = [prompt] } = request
  return (
    <div class="sounds">
      {outputsOf({ id, prompts }, result).map(({ label, output: { url } }, i) => (
        <figure key={url}>
          <figcaption>{label}</figcaption>
          <audio controls autoplay={i === 0} src={url} aria-label={label} onPlay={pauseOthers} />
        </figure>
      ))}
    </div>
  )
}

/** Names what would be deleted. */
function questionOf(request: RequestListItem): string {
  const { file_name: name, status } = request
  const isUnderWay = status === 'IN_QUEUE' || status === 'IN_PROGRESS'
  return (
    `Delete the request "${promptsOf(request)}" from ${name}, with its outputs and its log? ` +
    `${isUnderWay ? 'It is canceled first. ' : ''}This can't be undone.`
  )
}
