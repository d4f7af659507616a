/** Charts of the last day, by hour, as the gateway counted it. */

import { useEffect, useState } from 'preact/hooks'
import type { components } from '../../../clients/typescript/api.ts'
import { createAdmin } from '../../state/admin.ts'

type Activity = components['schemas']['Activity']
type Hour = Activity['hours'][number]

const EVERY_MS = 60_000

interface ChartOf {
  title: string
  value(hour: Hour): number
  /** The value as people say it. */
  textOf(value: number): string
}

const countText = (value: number): string => value.toLocaleString()
const secondsText = (value: number): string =>
  `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString()} s`

const CHARTS: readonly ChartOf[] = [
  {
    title: 'Requests ended',
    value: ({ completed, failed, canceled }) => completed + failed + canceled,
    textOf: countText,
  },
  { title: 'Failures', value: ({ failed }) => failed, textOf: countText },
  { title: 'Media separated', value: ({ audio_seconds: s }) => s, textOf: secondsText },
  { title: 'Wait for a start', value: ({ waiting_seconds: s }) => s ?? 0, textOf: secondsText },
]

export function Charts({ token }: { token: string }) {
  const [activity, setActivity] = useState<Activity | null>(null)
  useEffect(() => {
    const read = () =>
      createAdmin(token)
        .read<Activity>('activity')
        .then(setActivity)
        .catch(() => undefined) // the tables say what is wrong
    void read()
    const timer = setInterval(() => void read(), EVERY_MS)
    return () => clearInterval(timer)
  }, [token])
  if (!activity) return null
  return (
    <div class="charts">
      {CHARTS.map((chart) => (
        <Chart key={chart.title} {...chart} hours={activity.hours} />
      ))}
    </div>
  )
}

const WIDTH = 240
const HEIGHT = 64

/** Bars of hours, each with its value; below it the hours of the reader's own day. */
function Chart({ title, value, textOf, hours }: ChartOf & { hours: readonly Hour[] }) {
  const values = hours.map(value)
  const most = Math.max(...values)
  const width = WIDTH / hours.length
  const busiest = hours[values.indexOf(most)]!
  const summary = most === 0 ? 'none' : `at most ${textOf(most)} an hour, at ${hourOf(busiest)}`
  return (
    <figure>
      <figcaption>
        <strong>{title}</strong> <span class="quiet">{summary}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}: ${summary}`}>
        {hours.map((hour, i) => {
          const height = most === 0 ? 0 : (values[i]! / most) * (HEIGHT - 1)
          const place = { x: i * width, y: HEIGHT - height, width: width - 1, height }
          return (
            <rect key={hour.start} {...place}>
              <title>{`${hourOf(hour)}: ${textOf(values[i]!)}`}</title>
            </rect>
          )
        })}
        <line x1="0" y1={HEIGHT} x2={WIDTH} y2={HEIGHT} />
      </svg>
      <p class="quiet">
        <span>{hourOf(hours[0]!)}</span> <span>now</span>
      </p>
    </figure>
  )
}

const hourOf = ({ start }: Hour): string =>
  new Date(start).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
