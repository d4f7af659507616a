/** Runs generated cases against a gateway of their own. */

import { fc } from '../support/basics/property.ts'
import { createScope } from '../support/processes/scope.ts'
import type { FuzzOptions, FuzzResult } from './result.ts'
import { startTarget, type Target } from './target.ts'

/** The gateway is checked after this many cases. */
const CHECK_EVERY = 50

/**
 * @param any generates cases; each returns its outcome
 * @param assertRight checks the gateway, now and then and at the end
 * @throws fast-check's error, with its seed
 */
export async function fuzzGateway(
  any: fc.Arbitrary<(target: Target) => Promise<string>>,
  { cases, seed, onCase }: FuzzOptions,
  assertRight: (target: Target) => Promise<void>,
): Promise<FuzzResult> {
  const scope = createScope()
  const ends: Record<string, number> = {}
  let done = 0
  try {
    const target = await startTarget(scope, { BODY_SECONDS_MAX: '2' })
    const property = fc.asyncProperty(any, async (run) => {
      const end = await run(target)
      if (++done % CHECK_EVERY === 0) await assertRight(target)
      ends[end] = (ends[end] ?? 0) + 1
      onCase?.(end)
    })
    await fc.assert(property, { seed, numRuns: cases })
    await assertRight(target)
    return { seed, cases, ends }
  } finally {
    await scope.end()
  }
}
