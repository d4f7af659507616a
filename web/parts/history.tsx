import { useEffect, useState } from 'preact/hooks'
import type { RequestList } from '../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../state/credential.ts'
import { openListed, type Listed } from '../state/request.ts'
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

/** The account's requests, newest first. */
export function History() {
  const [pages, setPages] = useState<RequestList[]>([])
  const [problem, setProblem] = useState('')
  const more = (cursor?: string) =>
    currentClient()
      .list({ limit: PAGE, ...(cursor !== undefined && { cursor }) })
      .then(
        (page) => setPages((before) => (cursor === undefined ? [page] : [...before, page])),
        (error: unknown) => setProblem(messageOf(error)),
      )
  useEffect(() => void more(), [])
  const requests = pages.flatMap(({ data }) => data)
  const next = pages.at(-1)?.next_cursor
  const open = (listed: Listed) =>
    openListed(listed).catch((error: unknown) => setProblem(messageOf(error)))
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">Earlier requests</h2>
      {problem && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {pages.length > 0 && requests.length === 0 && (
        <p class="quiet">None. What you separate is listed here.</p>
      )}
      <ul class="history">
        {requests.map((request) => (
          <Row key={request.request_id} request={request} onOpen={() => void open(request)} />
        ))}
      </ul>
      {next && <button onClick={() => void more(next)}>Show more</button>}
    </section>
  )
}

function Row({ request, onOpen }: { request: Listed; onOpen: () => void }) {
  const state = stateOf(request)
  return (
    <li>
      <button class="row" onClick={onOpen}>
        <strong>{(request.prompts ?? [request.prompt]).join(', ')}</strong>
        <span class="quiet">from {request.file_name}</span>
        <span class={`state ${state}`}>{state}</span>
        <Time of={request.created_at} />
      </button>
    </li>
  )
}
