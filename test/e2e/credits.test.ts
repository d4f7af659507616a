/** Credits on the real parts: an operator's tools, a metered account, and what its requests cost. */

import assert from 'node:assert/strict'
import test, { before, type TestContext } from 'node:test'
import { ApiError, createClient } from '../../clients/typescript/node.ts'
import { accounts } from '../../scripts/cli/operator/accounts.ts'
import type { Command } from '../../scripts/cli/command.ts'
import { keys } from '../../scripts/cli/operator/keys.ts'
import { examplePath } from '../support/media/examples.ts'
import {
  separateFile,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'
import { runCommand } from '../support/processes/run-command.ts'

const SIX_SECONDS = examplePath('siren-and-speech.wav')

let winnow: Winnow
before(async (t) => {
  winnow = await startWinnow(t as TestContext)
})

async function operate(tool: Command, command: string, ...words: string[]) {
  const env = { DATA_DIR: winnow.folder }
  const { code, text, errors } = await runCommand(tool, [command, '--json', ...words], { env })
  assert.equal(code, 0, errors)
  return JSON.parse(text)
}

/** A metered account, and the service as its owner sees it. */
async function meteredAccount(seconds: number) {
  const { account_id: id } = await operate(accounts, 'create', 'Metered', '--metered')
  await operate(accounts, 'credit', id, String(seconds))
  const scopes = 'audio:separate,files:write'
  const { key: apiKey } = await operate(keys, 'create', '--scopes', scopes, '--account', id)
  const signal = new AbortController().signal
  const own: Winnow = { ...winnow, client: createClient({ baseUrl: winnow.url, apiKey, signal }) }
  const get = async (url: string) =>
    (await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } })).json() as Promise<any>
  return { id, own, get }
}

test('a metered account pays for what is separated, and gets no more than it can pay for', async () => {
  const { id, own, get } = await meteredAccount(10)
  const paid = await separateFile(own, SIX_SECONDS, { prompt: 'siren' })
  assert.equal(paid.last.status, 'COMPLETED')
  const { usage } = await get(paid.submitted.result_url)
  assert.deepEqual(usage, { feature: 'audio_seconds', quantity: 6, billing_status: 'deducted' })
  const account = await get(`${winnow.url}/v1/account`)
  assert.deepEqual([account.balance_seconds, account.reserved_seconds], [4, 0])

  const refused = await separateFile(own, SIX_SECONDS, { prompt: 'siren' })
  assert.equal(refused.last.status, 'FAILED')
  assert.deepEqual(refused.last.error, {
    code: 'INSUFFICIENT_CREDITS',
    message: 'The media costs 6 s, but the account has 4 s.',
  })
  const shown = await operate(accounts, 'show', id)
  assert.deepEqual([shown.balance_seconds, shown.reserved_seconds], [4, 0])

  await operate(accounts, 'credit', id, '--', '-4')
  await assert.rejects(
    submitFile(own, SIX_SECONDS, { prompt: 'siren' }),
    (error) => error instanceof ApiError && error.code === 'INSUFFICIENT_CREDITS',
  )
})
