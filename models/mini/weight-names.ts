/** Names of mini's weights: checkpoints written before 0.2.0 abbreviate every step of a path. */
import { readFileSync } from 'node:fs'

/** Abbreviated step (or `te.0`, `te.2`: a layer of a sequence) to the whole one. */
const NAMES = new Map<string, string>(
  Object.entries(
    JSON.parse(readFileSync(new URL('weights/short-names.json', import.meta.url), 'utf8')),
  ),
)

/**
 * The whole name of a weight: `sh.0.dn.bias` to `shared_blocks.0.band_to_exchange.bias`. A name
 * that is whole stays as it is.
 */
export const fullName = (path: string): string =>
  path.replace(/te\.\d|[^.]+/g, (step) => NAMES.get(step) ?? step)
