import { useEffect, useState } from 'preact/hooks'
import { matchOf } from '../audio/spans.ts'
import { messageOf } from '../state/credential.ts'
import { isDecodable, load, resultsOf, type Loaded, type Separated } from '../state/player.ts'
import { cancel, close, type Group, type OpenRequest } from '../state/requests.ts'
import { Player } from './player.tsx'
import { PlainPlayer } from './plain-player.tsx'

const isOver = ({ status, problem }: OpenRequest): boolean =>
  ['COMPLETED', 'FAILED'].includes(status.value?.status ?? '') || problem.value !== ''

/** The requests of one source: their progress, then what they separated. */
export function Requests({ group }: { group: Group }) {
  const { name, requests } = group
  const areOver = requests.every(isOver)
  return (
    <section class="card" aria-labelledby="request">
      <div class="title">
        <h1 id="request">{name}</h1>
        <button onClick={close}>New separation</button>
      </div>
      <ul class="requests">
        {requests.map((request) => (
          <RequestRow key={request.id} request={request} />
        ))}
      </ul>
      {areOver && <Outputs group={group} />}
      <Logs requests={requests} />
    </section>
  )
}

function RequestRow({ request }: { request: OpenRequest }) {
  const { prompt, status, problem } = request
  const current = status.value
  const failure = problem.value || current?.error?.message
  const match = matchOf((current?.logs ?? []).map(({ message }) => message))
  return (
    <li>
      <strong>{prompt}</strong>
      {failure ? (
        <p role="alert" class="problem">
          {current?.error && <code>{current.error.code}</code>} {failure}
        </p>
      ) : (
        <span role="status" class="quiet">
          {textOf(request)}
          {match !== null && `, match ${Math.round(100 * match)} %`}
        </span>
      )}
      {current?.status === 'IN_PROGRESS' && (
        <progress aria-label={`Progress of ${prompt}`} value={current.progress ?? 0} />
      )}
      {current && !isOver(request) && (
        <button onClick={() => void cancel(request)}>Cancel</button>
      )}
    </li>
  )
}

function textOf({ status, secondsLeft }: OpenRequest): string {
  const current = status.value
  if (!current) return 'connecting'
  if (current.status === 'COMPLETED') return 'completed'
  if (current.status === 'IN_QUEUE') {
    const { queue_position: position } = current
    return position === undefined ? 'in the queue' : `number ${position} in the queue`
  }
  const left = secondsLeft.value
  const percent = Math.round(100 * (current.progress ?? 0))
  return `${percent} %${left === null ? '' : `, about ${durationText(left)} left`}`
}

function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`
  return `${Math.round(seconds / 60)} min`
}

function Outputs({ group }: { group: Group }) {
  const [results, setResults] = useState<readonly Separated[]>([])
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let mixer: Loaded['mixer'] | undefined
    let isGone = false
    const start = async () => {
      const found = await resultsOf(group)
      setResults(found)
      if (found.length === 0 || !isDecodable(found)) return
      const done = await load(group, found)
      mixer = done.mixer
      if (isGone) mixer.close()
      else setLoaded(done)
    }
    start().catch((error: unknown) => setProblem(messageOf(error)))
    return () => {
      isGone = true
      mixer?.close()
    }
  }, [group])
  if (problem) {
    return (
      <>
        <p role="alert" class="problem">
          {problem}
        </p>
        <PlainPlayer results={results} />
      </>
    )
  }
  if (results.length === 0) return null
  if (!isDecodable(results)) return <PlainPlayer results={results} />
  if (!loaded) return <p class="quiet">Loading what was separated…</p>
  return <Player loaded={loaded} group={group} />
}

function Logs({ requests }: { requests: readonly OpenRequest[] }) {
  const lines = requests.flatMap(({ status }) => status.value?.logs ?? [])
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
