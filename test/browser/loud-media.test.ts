/** Media above full scale: the page compares at the level of the outputs. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { noise } from '../support/media/signals.ts'
import { startWinnow } from '../support/processes/start-winnow.ts'
import { wavBytes } from '../support/media/wav.ts'
import { launchBrowser } from '../support/page/browser.ts'
import { drop, playerIsThere, separate, signedIn } from './playground.ts'

test('the null test holds for media that is lowered, and says by how much', async (t) => {
  const browser = await launchBrowser(t)
  const winnow = await startWinnow(t)
  const page = await signedIn({ t, winnow, browser })
  const path = join(winnow.folder, 'loud.wav')
  const loud = noise(1, 44_100).map((x) => 4 * x)
  await writeFile(path, wavBytes([loud], 44_100, 'float32'))
  await drop(page, path, 'loud.wav')
  await page.getByLabel('Prompt 1').fill('rain')
  await separate(page)
  await playerIsThere(page)
  await page.getByRole('button', { name: 'Null test' }).click()
  const verdict = await page.getByText(/peaks at/).innerText()
  const [, gainDb, peak] =
    /Mixture, lowered by (\d+\.\d+) dB as they are, .* peaks at (-\d+\.\d) dB/.exec(verdict) ?? []
  assert.ok(Number(gainDb) >= 0.01 && Number(peak) < -130, verdict)
})
