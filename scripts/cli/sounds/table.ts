/** Formats a list of sounds as a table. */

import type { HeardSound, SoundsResult } from '../../../clients/typescript/node.ts'
import { timeText } from '../../../shared/time-text.ts'
import { printed } from '../admin/print.ts'

/** How many spans of a sound are shown. */
const SPANS_MAX = 4

/** Returns lines that start with the source, without a newline at the end. */
export function soundsTable(source: string, { sounds, duration }: SoundsResult['data']): string {
  const head = `${source}, ${timeText(duration, 1)}:`
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
    .map(({ start, end }) => `${timeText(start, 1)} to ${timeText(end, 1)}`)
  const more = spans.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}
