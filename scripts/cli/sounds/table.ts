/** Formats a list of sounds as a table. */

import type { HeardSound, SoundsResult } from '../../../clients/typescript/node.ts'
import { printed } from '../operator/print.ts'

/** How many spans of a sound are shown. */
const SPANS_MAX = 4

/** Returns lines that start with the source, without a newline at the end. */
export function soundsTable(source: string, { sounds, duration }: SoundsResult['data']): string {
  const head = `${source}, ${clockTime(duration)}:`
  if (sounds.length === 0) return `${head} no sound that is known was heard`
  const data = sounds.map(({ name, share, match, spans }) => ({
    sound: name,
    share: percent(share),
    match: percent(match),
    where: whereOf(spans),
  }))
  return `${head}\n${printed({ object: 'list', data }).trimEnd()}`
}

const percent = (part: number): string => `${Math.round(100 * part)} %`.padStart(5)

function whereOf(spans: HeardSound['spans']): string {
  const shown = spans
    .slice(0, SPANS_MAX)
    .map(({ start, end }) => `${clockTime(start)} to ${clockTime(end)}`)
  const more = spans.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** For example `1:02.5`, with hours only if needed. */
function clockTime(seconds: number): string {
  const tenths = Math.round(10 * seconds)
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60]
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
