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
