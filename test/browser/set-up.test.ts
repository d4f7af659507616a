/**
 * The set-up of tests that start several things at once: where one of them fails, the others end
 * with the test. A process left over would keep the test's own from ending.
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchBrowser } from '../support/page/browser.ts'
import { buildClient } from '../support/clients/client-package.ts'
import { createScope } from '../support/processes/scope.ts'
import { startWinnow } from '../support/processes/start-winnow.ts'

interface Child {
  pid: string
  commandLine: string
}

/** The processes that this one has started and that have not ended. */
function children(): Child[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (parent !== String(process.pid) || state === 'Z') return []
      return [{ pid, commandLine: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }]
    } catch {
      return [] // it has just ended
    }
  })
}

const runs = (name: string) => children().some(({ commandLine }) => commandLine.includes(name))

const moments: [string, () => boolean][] = [
  ['at once', () => true],
  ['as NATS starts', () => runs('nats-server')],
  ['as the gateway starts', () => runs('gateway/main.ts')],
]

for (const [name, isThere] of moments) {
  test(`a set-up that fails ${name} leaves nothing`, { timeout: 120_000 }, async () => {
    const before = new Set(children().map(({ pid }) => pid))
    // One each: the end of one may take so long that another has started before its own end.
    const [service, browser, client] = [createScope(), createScope(), createScope()]
    const starting = [startWinnow(service), launchBrowser(browser), buildClient(client)]
    const started = Promise.allSettled<unknown>(starting)
    while (!isThere()) await sleep(5)
    await Promise.all([service, browser, client].map((scope) => scope.end()))
    await started
    const left = children().filter(({ pid }) => !before.has(pid))
    assert.deepEqual(left, [])
  })
}
