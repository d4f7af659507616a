import { useEffect, useRef, useState } from 'preact/hooks'
import type { Result } from '../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../state/credential.ts'
import { isDecodable, load, type Loaded } from '../state/loaded-media.ts'
import { cancel, close, type OpenRequest } from '../state/open-request.ts'
import { entries } from '../state/file-queue.ts'
import { adviceOn } from './advice.ts'
import { Downloads } from './downloads.tsx'
import { Player } from './player.tsx'
import { PlainPlayer } from './plain-player.tsx'
import { detailOf, stateOf } from './status-text.ts'
import { Time } from './time.tsx'

const isOver = ({ status, problem }: OpenRequest): boolean =>
  ['COMPLETED', 'FAILED'].includes(status.value?.status ?? '') || problem.value !== ''

/** The progress of a request, then what it separated. */
export function Request({ request }: { request: OpenRequest }) {
  const heading = useRef<HTMLHeadingElement>(null)
  // The form that had the focus is gone: whoever uses keys or a screen reader goes on here.
  useEffect(() => heading.current!.focus(), [])
  return (
    <section class="card" aria-labelledby="request">
      <div class="title">
        <h1 id="request" ref={heading} tabIndex={-1}>
          {request.name}
        </h1>
        <button onClick={close}>
          {entries.value.length > 0 ? 'Back to the list' : 'New separation'}
        </button>
      </div>
      <Progress request={request} />
      {request.status.value?.status === 'COMPLETED' && <Outputs request={request} />}
      <Logs request={request} />
    </section>
  )
}

function Progress({ request }: { request: OpenRequest }) {
  const { prompts, status, problem } = request
  const current = status.value
  const isCanceled = current?.error?.code === 'CANCELED' // by whoever looks at it: no failure
  const failure = problem.value || (isCanceled ? '' : current?.error?.message)
  const title = prompts.join(', ')
  const targets = current?.targets ?? []
  const named = [current?.separator, ...targets.map(({ separator }) => separator)]
  const makers = [...new Set(named.filter((name) => name !== undefined))]
  return (
    <div class="progress">
      <strong>{title}</strong>
      {failure ? (
        <p role="alert" class="problem">
          {current?.error && <code>{current.error.code}</code>} {failure}{' '}
          {current?.error && adviceOn(current.error.code)}
        </p>
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
          <span class="quiet">{detailOf(current)}</span>
          {makers.length > 0 && <span class="quiet">Separated by {makers.join(' and ')}</span>}
        </>
      )}
      {current?.status === 'IN_PROGRESS' && (
        <progress aria-label={`Progress of ${title}`} value={current.progress ?? 0} />
      )}
      {current && !isOver(request) && (
        <button onClick={() => void cancel(request)}>Cancel</button>
      )}
    </div>
  )
}

function Outputs({ request }: { request: OpenRequest }) {
  const [result, setResult] = useState<Result | null>(null)
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let mixer: Loaded['mixer'] | undefined
    let isGone = false
    const start = async () => {
      const found = await currentClient().result(request.id)
      setResult(found)
      if (!isDecodable(found)) return
      const done = await load(request, found)
      mixer = done.mixer
      if (isGone) mixer.close()
      else setLoaded(done)
      if (request.playsAtOnce && !isGone) void mixer.play()
    }
    start().catch((error: unknown) => setProblem(messageOf(error)))
    return () => {
      isGone = true
      mixer?.close()
    }
  }, [request])
  const isPlain = problem !== '' || (result !== null && !isDecodable(result))
  return (
    <>
      {problem && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {result && <Sounds {...{ request, result, loaded, isPlain }} />}
    </>
  )
}

interface SoundsProps {
  request: OpenRequest
  result: Result
  /** Null: not yet. */
  loaded: Loaded | null
  /** They are not decoded in the page. */
  isPlain: boolean
}

function Sounds({ request, result, loaded, isPlain }: SoundsProps) {
  const { delete_after: deleteAfter } = result.retention
  if (!isPlain && !loaded) return <p role="status" class="quiet">Loading what was separated…</p>
  return (
    <>
      {loaded && !isPlain ? (
        <Player loaded={loaded} request={request} />
      ) : (
        <PlainPlayer request={request} result={result} />
      )}
      <Downloads request={request} result={result} mixer={loaded?.mixer ?? null} />
      {deleteAfter !== undefined && (
        <p class="quiet">
          The service keeps these files until <Time of={deleteAfter} />.
        </p>
      )}
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
