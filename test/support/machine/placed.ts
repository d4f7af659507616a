/** Adapts an example configuration to a test's own paths and ports. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../../', import.meta.url)

/**
 * Returns the text of `path`, relative to the root of the checkout, with every occurrence of each
 * key of `places` replaced.
 * @throws AssertionError if a key does not occur, because the example has changed
 */
export async function placed(
  path: string,
  places: Readonly<Record<string, string>>,
): Promise<string> {
  let text = await readFile(fileURLToPath(new URL(path, ROOT)), 'utf8')
  for (const [example, place] of Object.entries(places)) {
    assert.ok(text.includes(example), `${example} is not in ${path}`)
    text = text.replaceAll(example, place)
  }
  return text
}
