/**
 * The page at `/` in a real browser, with a real service that all views share. The cases are in
 * page/, by view.
 */

import test, { before, describe, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../support/page/browser.ts'
import { startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { aloud } from './page/aloud.ts'
import { chips } from './page/chips.ts'
import { downloads } from './page/downloads.ts'
import { firstMinutes } from './page/first-minutes.ts'
import { form } from './page/form.ts'
import { further } from './page/further.ts'
import { models } from './page/models.ts'
import { player } from './page/player.ts'
import { tasks } from './page/tasks.ts'
import { ADMIN_TOKEN } from '../support/gateway/admin.ts'
import { MEDIA_SECONDS_MAX, type Cases } from './playground.ts'

let winnow: Winnow
let browser: Browser
before(async (t) => {
  const context = t as TestContext
  browser = await launchBrowser(context)
  const env = {
    ADMIN_TOKEN,
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    MEDIA_SECONDS_MAX: String(MEDIA_SECONDS_MAX),
  }
  winnow = await startWinnow(context, { env })
})

const VIEWS: Readonly<Record<string, Cases>> = {
  'the first minutes': firstMinutes,
  'the form': form,
  tasks,
  'which model answers': models,
  'the player': player,
  'the chip of a lane': chips,
  downloads,
  'separating further': further,
  'the page aloud': aloud,
}

for (const [view, cases] of Object.entries(VIEWS)) {
  describe(view, () => {
    for (const [name, run] of Object.entries(cases)) {
      test(name, (t) => run({ t, winnow, browser }))
    }
  })
}
