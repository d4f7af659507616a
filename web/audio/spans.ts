/** Reads spans from the log lines of a request. */

export interface NamedSpan {
  start: number
  end: number
}

const SPAN = /(\d+\.\d+) to (\d+\.\d+) s/g

/** Returns the predicted spans in seconds; empty if none were predicted. */
export const predictedSpans = (messages: readonly string[]): NamedSpan[] =>
  messages
    .filter((message) => /^(".*": )?Predicted /s.test(message))
    .flatMap((message) =>
      Array.from(message.matchAll(SPAN), ([, start, end]) => ({
        start: Number(start),
        end: Number(end),
      })),
    )
