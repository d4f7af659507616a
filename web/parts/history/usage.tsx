import { useState } from 'preact/hooks'
import type { Usage as UsageDays } from '../../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../../state/credential.ts'
import { Problem } from '../problem.tsx'

/** The account's usage on each of the last thirty days. */
export function Usage() {
  const [usage, setUsage] = useState<UsageDays | null>(null)
  const [problem, setProblem] = useState('')
  const read = (isOpen: boolean) => {
    if (!isOpen) return
    setProblem('')
    currentClient()
      .usage()
      .then(setUsage, (error: unknown) => setProblem(messageOf(error)))
  }
  return (
    <details class="usage" onToggle={({ currentTarget }) => read(currentTarget.open)}>
      <summary>Usage by day</summary>
      <Problem>{problem}</Problem>
      {usage && <Days usage={usage} />}
    </details>
  )
}

function Days({ usage: { from, to, data } }: { usage: UsageDays }) {
  if (data.length === 0) return <p class="quiet">Nothing since {dayOf(from)}.</p>
  const most = Math.max(...data.map(({ audio_seconds: seconds }) => seconds))
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Usage by day">
      <table>
        <caption>
          {dayOf(from)} to {dayOf(to)}, in UTC
        </caption>
        <thead>
          <tr>
            {['day', 'completed', 'failed or canceled', 'seconds of media'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.toReversed().map(({ day, completed, failed, audio_seconds: seconds }) => (
            <tr key={day}>
              <td>{dayOf(day)}</td>
              <td>{completed}</td>
              <td>{failed}</td>
              <td>
                {seconds} <meter value={seconds} max={most || 1} aria-hidden="true" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** @param day for example `2026-01-31`, in UTC */
const dayOf = (day: string): string =>
  new Date(day).toLocaleDateString([], { day: 'numeric', month: 'short', timeZone: 'UTC' })
