// A reporter of node:test that prints only what failed, and why. scripts/tools/test.mjs prints that
// at the end of a run, where a CI shows it without scrolling.

import { inspect } from 'node:util'

/** Failed because a test inside of it did, which has its own lines. */
const BY_ITS_TESTS = 'subtestsFailed'
const LINES_MAX = 12

export default async function* failures(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.details.error.failureType === BY_ITS_TESTS) continue
    const { error } = data.details
    const lines = inspect(error.cause ?? error, { depth: 3 }).split('\n')
    yield `✖ ${data.name}\n${lines.slice(0, LINES_MAX).join('\n')}\n\n`
  }
}
