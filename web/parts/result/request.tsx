import { useEffect, useRef, useState } from 'preact/hooks'
import type { Result } from '../../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../../state/credential.ts'
import { askToNotify, permission } from '../../state/notification.ts'
import { cancel, close, deleteRequest, isOver, type OpenRequest } from '../../state/open-request.ts'
import { entries, filesAheadOf } from '../../state/file-queue.ts'
import { renameRequest } from '../../state/rename.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { adviceOn } from './advice.ts'
import { LivePlayer } from './live-player.tsx'
import { Offers } from './offers.tsx'
import { Outputs } from './outputs.tsx'
import { Share } from './share.tsx'
import { detailOf, readingsOf, stateOf } from '../status-text.ts'
import { Time } from '../time.tsx'
import { Problem } from '../problem.tsx'

/** Nothing plays unasked to whoever leaves a request and comes back. */
function neverPlayAtOnce(request: OpenRequest): void {
  request.heard = null
  request.playsAtOnce = false
}

/** The progress of a request, and then its result. */
export function Request({ request }: { request: OpenRequest }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const [name, setName] = useState(request.name)
  // The form that had the focus is gone, so people who use keys or a screen reader continue here.
  useEffect(() => heading.current!.focus(), [])
  useEffect(() => () => neverPlayAtOnce(request), [request])
  return (
    <section class="card" aria-labelledby="request">
      <div class="title">
        <h1 id="request" ref={heading} tabIndex={-1}>
          {name}
        </h1>
        <div class="choice">
          <Rename request={request} onRenamed={setName} />
          <button onClick={close}>
            {entries.value.length > 0 ? 'Back to the list' : 'New separation'}
          </button>
        </div>
      </div>
      <Progress request={request} />
      {!isOver(request) && <LivePlayer request={request} />}
      {request.status.value?.status === 'COMPLETED' && (
        <Outputs
          request={request}
          read={() => currentClient().result(request.id)}
          readPeaks={() => currentClient().peaks(request.id)}
          above={(result, mixer) => <Offers request={request} result={result} mixer={mixer} />}
          below={(result) => <Kept id={request.id} result={result} />}
        />
      )}
      <Logs request={request} />
      {isOver(request) && <Delete request={request} />}
    </section>
  )
}

function Progress({ request }: { request: OpenRequest }) {
  const { prompts, status, problem } = request
  const current = status.value
  const isCanceled = current?.error?.code === 'CANCELED' // a cancel by the user is not a failure
  const failure = problem.value || (isCanceled ? '' : current?.error?.message)
  const title = prompts.join(', ')
  const targets = current?.targets ?? []
  const named = [current?.separator, ...targets.map(({ separator }) => separator)]
  const makers = [...new Set(named.filter((name) => name !== undefined))]
  return (
    <div class="progress">
      <strong>{title}</strong>
      {failure ? (
        <Problem>
          {failure} {current?.error && adviceOn(current.error.code)}{' '}
          {current?.error && <code>{current.error.code}</code>}
        </Problem>
      ) : (
        <>
          <div role="status">
            <span class="quiet">{stateOf(current)}</span>{' '}
            {(current?.findings ?? []).map(({ prompt, state, message }) => (
              <p key={prompt} class={state === 'found' ? 'spoken' : `finding ${state}`}>
                {message}
              </p>
            ))}
          </div>
          {current?.status === 'COMPLETED' &&
            readingsOf(prompts, current.findings).map((text) => (
              <p key={text} class="finding found">
                {text}
              </p>
            ))}
          <span class="quiet">{detailOf(current)}</span>
          {current?.status === 'IN_QUEUE' && <Ahead files={filesAheadOf(request.id)} />}
          {makers.length > 0 && <span class="quiet">Separated by {makers.join(' and ')}</span>}
        </>
      )}
      {current?.status === 'IN_PROGRESS' && (
        <progress aria-label={`Progress of ${title}`} value={current.progress ?? 0} />
      )}
      {request.retryAt.value !== null && <Away until={request.retryAt.value} />}
      {current && !isOver(request) && (
        <div class="choice">
          <Cancel request={request} />
          {permission.value === 'default' && (
            <button onClick={() => void askToNotify()}>Tell me when it is done</button>
          )}
        </div>
      )}
    </div>
  )
}

function Cancel({ request }: { request: OpenRequest }) {
  const [problem, setProblem] = useState('')
  const press = () => {
    setProblem('')
    cancel(request).catch((error: unknown) => setProblem(`Not canceled: ${messageOf(error)}`))
  }
  return (
    <>
      <button onClick={press}>Cancel</button>
      <Problem>{problem}</Problem>
    </>
  )
}

interface RenameProps {
  request: OpenRequest
  onRenamed(name: string): void
}

function Rename({ request, onRenamed }: RenameProps) {
  const rename = async () => {
    const name = await renameRequest(request.id, request.name)
    if (name === null) return
    request.name = name
    onRenamed(name)
  }
  const [problem, setProblem] = useState('')
  const press = () => {
    setProblem('')
    rename().catch((error: unknown) => setProblem(messageOf(error)))
  }
  return (
    <>
      <button onClick={press}>Rename</button>
      <Problem>{problem}</Problem>
    </>
  )
}

function Delete({ request }: { request: OpenRequest }) {
  const remove = async () => {
    await deleteRequest(request.id)
    close()
    return null
  }
  return <ConfirmedButton action="Delete" target={`${request.name} and its outputs`} act={remove} />
}

function Ahead({ files }: { files: number }) {
  if (files === 0) return null
  return <span class="quiet">behind {files === 1 ? 'one' : files} of your files</span>
}

/** Counts down to the next try while the service does not answer. */
function Away({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.ceil((until - now) / 1_000)
  return (
    <p class="problem">
      <span role="alert">The service does not answer.</span>{' '}
      {seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again.'}
    </p>
  )
}

/** Says how long the outputs are kept, and offers to share them. */
function Kept({ id, result }: { id: string; result: Result }) {
  const { delete_after: deleteAfter } = result.retention
  return (
    <>
      {deleteAfter !== undefined && (
        <p class="quiet">
          The service keeps these files until <Time at={deleteAfter} />.
        </p>
      )}
      <Share id={id} result={result} />
    </>
  )
}

function Logs({ request }: { request: OpenRequest }) {
  const lines = request.status.value?.logs ?? []
  if (lines.length === 0) return null
  return (
    <details class="logs">
      <summary>Log</summary>
      <ul>
        {lines.map(({ timestamp, message }, i) => (
          <li key={i}>
            <time class="quiet">{new Date(timestamp).toLocaleTimeString()}</time> {message}
          </li>
        ))}
      </ul>
    </details>
  )
}
