/** Spans as the log lines of a request name them. */

export interface NamedSpan {
  start: number
  end: number
}

const SPAN = /(\d+\.\d+) to (\d+\.\d+) s/g

/** The predicted spans, in seconds; none where none were predicted. */
export const predictedSpans = (messages: readonly string[]): NamedSpan[] =>
  messages
    .filter((message) => /^(".*": )?Predicted /s.test(message))
    .flatMap((message) =>
      Array.from(message.matchAll(SPAN), ([, start, end]) => ({
        start: Number(start),
        end: Number(end),
      })),
    )

/**
 * How well the sound fits the prompt, from 0 to 1; null where the model gives no such number.
 * @param prompt one of several; null: the only one
 */
export function matchOf(messages: readonly string[], prompt: string | null): number | null {
  const start = prompt === null ? '' : `"${prompt}": `
  for (const message of messages.filter((line) => line.startsWith(start))) {
    const [, match] = /match.* is (\d\.\d+) of 1/.exec(message.slice(start.length)) ?? []
    if (match !== undefined) return Number(match)
  }
  return null
}
