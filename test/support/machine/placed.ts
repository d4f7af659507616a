/** An example of configuration, with the places of a test for its own. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../../', import.meta.url)

/**
 * The text of `path`, from the root of the checkout, with each key of `places` replaced wherever it
 * stands. @throws AssertionError where one stands nowhere: the example has changed
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
