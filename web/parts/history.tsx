import { useEffect, useRef, useState } from 'preact/hooks'
import type { RequestList } from '../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../state/credential.ts'
import { deleteListed, openListed, type Listed } from '../state/request.ts'
import { focusIfLost } from './focus.ts'
import { Time } from './time.tsx'

const PAGE = 10

const STATES = {
  IN_QUEUE: 'in the queue',
  IN_PROGRESS: 'in progress',
  COMPLETED: 'completed',
  FAILED: 'failed',
} as const

/** Nothing is left to listen to of a completed request whose time is over. */
function stateOf({ status, error, retention }: Listed): string {
  if (retention && Date.parse(retention.delete_after) <= Date.now()) return 'outputs deleted'
  return error?.code === 'CANCELED' ? 'canceled' : STATES[status]
}

const promptsOf = ({ prompt, prompts = [prompt] }: Listed): string => prompts.join(', ')

/** The account's requests, newest first. */
export function History() {
  const [pages, setPages] = useState<RequestList[]>([])
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set())
  const heading = useRef<HTMLHeadingElement>(null)
  const [problem, setProblem] = useState('')
  const more = (cursor?: string) =>
    currentClient()
      .list({ limit: PAGE, ...(cursor !== undefined && { cursor }) })
      .then(
        (page) => setPages((before) => (cursor === undefined ? [page] : [...before, page])),
        (error: unknown) => setProblem(messageOf(error)),
      )
  useEffect(() => void more(), [])
  useEffect(() => focusIfLost(heading.current), [deleted])
  const requests = pages
    .flatMap(({ data }) => data)
    .filter(({ request_id: id }) => !deleted.has(id))
  const next = pages.at(-1)?.next_cursor
  const open = (listed: Listed) =>
    openListed(listed).catch((error: unknown) => setProblem(messageOf(error)))
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history" ref={heading} tabIndex={-1}>
        Earlier requests
      </h2>
      {problem && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {pages.length > 0 && requests.length === 0 && !next && (
        <p class="quiet">None. What you separate is listed here.</p>
      )}
      <ul class="history">
        {requests.map((request) => (
          <Row
            key={request.request_id}
            request={request}
            onOpen={() => void open(request)}
            onDeleted={() => setDeleted((before) => new Set(before).add(request.request_id))}
          />
        ))}
      </ul>
      {next && <button onClick={() => void more(next)}>Show more</button>}
    </section>
  )
}

interface RowProps {
  request: Listed
  onOpen: () => void
  onDeleted: () => void
}

function Row({ request, onOpen, onDeleted }: RowProps) {
  const [problem, setProblem] = useState('')
  const state = stateOf(request)
  const remove = () => {
    setProblem('')
    if (!confirm(questionOf(request))) return
    deleteListed(request).then(onDeleted, (error: unknown) => setProblem(messageOf(error)))
  }
  return (
    <li>
      <button class="row" onClick={onOpen}>
        <strong>{promptsOf(request)}</strong>
        <span class="quiet">from {request.file_name}</span>
        <span class={`state ${state}`}>{state}</span>
        <Time of={request.created_at} />
      </button>
      <button
        aria-label={`Delete ${promptsOf(request)} from ${request.file_name}`}
        onClick={remove}
      >
        Delete
      </button>
      {problem && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
    </li>
  )
}

/** Names what is deleted. */
function questionOf(request: Listed): string {
  const { file_name: name, status } = request
  const isUnderWay = status === 'IN_QUEUE' || status === 'IN_PROGRESS'
  return (
    `Delete the request "${promptsOf(request)}" from ${name}, with its outputs and its log? ` +
    `${isUnderWay ? 'It is canceled first. ' : ''}This can't be undone.`
  )
}
