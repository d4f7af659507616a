/** Reads spans from the log lines of a request. */

import type { Span } from '../state/draft.ts'

const SPAN = /(\d+\.\d+) to (\d+\.\d+) s/g

/** Returns the spans in which the model predicted the sound; empty if it predicted none. */
export const predictedSpans = (messages: readonly string[]): Span[] =>
  messages
    .filter((message) => /^(".*": )?Predicted /s.test(message))
    .flatMap((message) =>
      Array.from(message.matchAll(SPAN), ([, start, end]) => ({
        start: Number(start),
        end: Number(end),
        include: true,
      })),
    )
