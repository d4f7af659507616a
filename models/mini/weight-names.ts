/** Names of mini's weights. Checkpoints written before 0.2.0 abbreviate every step of a path. */
import { readFileSync } from 'node:fs'

/** Maps an abbreviated step (or `te.0`, `te.2`: a layer of a sequence) to its full name. */
const NAMES = new Map<string, string>(
  Object.entries(
    JSON.parse(readFileSync(new URL('weights/short-names.json', import.meta.url), 'utf8')),
  ),
)

/**
 * Returns the full name of a weight: `sh.0.dn.bias` becomes
 * `shared_blocks.0.band_to_exchange.bias`. Full names stay as they are.
 */
export const fullName = (path: string): string =>
  path.replace(/te\.\d|[^.]+/g, (step) => NAMES.get(step) ?? step)
