/** Spans as the log lines of a request name them. */

export interface NamedSpan {
  start: number
  end: number
}

const SPAN = /(\d+\.\d+) to (\d+\.\d+) s/g

/** The predicted spans, in seconds; none where none were predicted. */
export const predictedSpans = (messages: readonly string[]): NamedSpan[] =>
  messages
    .filter((message) => message.startsWith('Predicted '))
    .flatMap((message) =>
      Array.from(message.matchAll(SPAN), ([, start, end]) => ({
        start: Number(start),
        end: Number(end),
      })),
    )

/** How well the sound fits the prompt, from 0 to 1; null where the model gives no such number. */
export function matchOf(messages: readonly string[]): number | null {
  for (const message of messages) {
    const [, match] = /match.* is (\d\.\d+) of 1/.exec(message) ?? []
    if (match !== undefined) return Number(match)
  }
  return null
}
