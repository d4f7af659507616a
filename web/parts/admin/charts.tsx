/** Charts of the last day by hour. */

import type { components } from '../../../clients/typescript/api.ts'
import type { Admin } from '../../state/admin.ts'
import { usePath } from './polled.ts'

type Activity = components['schemas']['Activity']
type Hour = Activity['hours'][number]

const INTERVAL_MS = 60_000

interface ChartDefinition {
  title: string
  unit: string
  value(hour: Hour): number
  format(value: number): string
}

const countText = (value: number): string => value.toLocaleString()
const secondsText = (value: number): string =>
  `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString()} s`

const CHARTS: readonly ChartDefinition[] = [
  {
    title: 'Requests ended',
    unit: 'requests an hour',
    value: ({ completed, failed, canceled }) => completed + failed + canceled,
    format: countText,
  },
  { title: 'Failures', unit: 'requests an hour', value: ({ failed }) => failed, format: countText },
  {
    title: 'Media separated',
    unit: 'seconds an hour',
    value: ({ audio_seconds: s }) => s,
    format: secondsText,
  },
  {
    title: 'Wait for a start',
    unit: 'seconds, on average',
    value: ({ waiting_seconds: s }) => s ?? 0,
    format: secondsText,
  },
]

export function Charts({ admin }: { admin: Admin }) {
  const { data: activity } = usePath<Activity>(admin, 'activity', INTERVAL_MS)
  if (!activity) return null
  return (
    <div class="charts">
      {CHARTS.map((chart) => (
        <Chart key={chart.title} {...chart} hours={activity.hours} />
      ))}
    </div>
  )
}

const WIDTH = 320
const HEIGHT = 130
/** Around the bars: room for the labels of both axes. */
const PLOT = { left: 40, right: WIDTH - 8, top: 8, bottom: HEIGHT - 20 }
const HOURS_BETWEEN_LABELS = 6

/** A bar for each hour, in the reader's time zone. */
function Chart({
  title,
  unit,
  value,
  format,
  hours,
}: ChartDefinition & { hours: readonly Hour[] }) {
  const values = hours.map(value)
  const most = Math.max(...values)
  const top = roundUp(most)
  const width = (PLOT.right - PLOT.left) / hours.length
  const yOf = (value: number) => PLOT.bottom - (value / top) * (PLOT.bottom - PLOT.top)
  const busiest = hours[values.indexOf(most)]!
  const summary = most === 0 ? 'none' : `at most ${format(most)} an hour, at ${hourOf(busiest)}`
  return (
    <figure>
      <figcaption>
        <strong>{title}</strong> <span class="quiet">{unit}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}: ${summary}`}>
        {[0, top / 2, top].map((tick) => (
          <g key={tick}>
            <line x1={PLOT.left} y1={yOf(tick)} x2={PLOT.right} y2={yOf(tick)} />
            <text x={PLOT.left - 6} y={yOf(tick) + 4} text-anchor="end">
              {tick.toLocaleString([], { maximumFractionDigits: 1, notation: 'compact' })}
            </text>
          </g>
        ))}
        {hours.map((hour, i) => {
          const place = { x: PLOT.left + i * width, y: yOf(values[i]!), width: width - 2 }
          return (
            <rect key={hour.start} {...place} height={PLOT.bottom - place.y}>
              <title>{`${hourOf(hour)}: ${format(values[i]!)}`}</title>
            </rect>
          )
        })}
        {hours.map(
          (hour, i) =>
            i % HOURS_BETWEEN_LABELS === 0 && (
              <text key={hour.start} x={PLOT.left + i * width} y={HEIGHT - 4}>
                {hourOf(hour)}
              </text>
            ),
        )}
      </svg>
    </figure>
  )
}

/** Rounds up to 1, 2, 5, 10, 20 and so on. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= most) ?? 1
}

const hourOf = ({ start }: Hour): string =>
  new Date(start).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
