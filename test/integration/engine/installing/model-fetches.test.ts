/** An engine fetches and removes models over its control interface, with a real process. */

import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startControlServer, type ControlledEngine } from '../../../../engine/control-server.ts'
import type { CatalogueEntry } from '../../../../engine/installing/catalogue.ts'
import { ModelFetches } from '../../../../engine/installing/model-fetches.ts'
import { connectEngine } from '../../../../shared/engine-control.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { startModelHost, TINY_FILE } from '../../../support/engine/model-host.ts'

const BUILT_IN = { name: 'mini', built_in: true }

/** Starts an engine that does nothing else; `unloaded` lists the models it was asked to unload. */
async function startEngine(
  t: TestContext,
  catalogue: CatalogueEntry[],
  options: { folder?: string; named?: string[] } = {},
) {
  const folder = options.folder ?? temporaryFolder(t)
  const unloaded: string[] = []
  const fetches = new ModelFetches({
    folder,
    environment: { TF_CPP_MIN_LOG_LEVEL: '2' },
    catalogue,
    named: options.named ?? [],
    models: { list: () => [BUILT_IN], unload: async (name) => void unloaded.push(name) },
  })
  const engine = { fetches } as Partial<ControlledEngine> as ControlledEngine
  const server = await startControlServer('127.0.0.1', 0, engine)
  const connect = () => {
    const client = connectEngine(server.address)
    t.after(() => client.close())
    return client
  }
  t.after(() => server.stop())
  return { folder, unloaded, client: connect(), connect }
}

/** Sends part of the file, and the rest when `end` is called. */
function slowAnswer() {
  let begun: (response: ServerResponse) => void
  const started = new Promise<ServerResponse>((resolve) => (begun = resolve))
  const answer = (response: ServerResponse) => {
    response.writeHead(200, { etag: '"one"', 'content-length': TINY_FILE.length })
    response.write(TINY_FILE.subarray(0, 100_000), () => begun(response))
    return true
  }
  return { started, answer, end: async () => (await started).end(TINY_FILE.subarray(100_000)) }
}

test('a fetch can be joined and followed to its end, installs the model, and the model can be removed', async (t) => {
  const slow = slowAnswer()
  const { entry, requests } = await startModelHost(t, (_, response) => slow.answer(response))
  const { folder, client, connect, unloaded } = await startEngine(t, [entry])
  const first = await client.fetchModel('tiny', true)
  await slow.started
  const second = await connect().fetchModel('tiny', true)
  second.leave()
  await assert.rejects(second.ended, /CANCELLED/)
  const third = await connect().fetchModel('tiny', true)
  const [listed] = await client.listCatalogue()
  assert.deepEqual(
    [listed!.licence_word, listed!.licence_question, listed!.megabytes, listed!.fetch!.state],
    ['test only', true, 1, 'DOWNLOADING'],
  )
  await slow.end()
  for (const { ended } of [first, third]) assert.equal((await ended).state, 'INSTALLED')
  assert.equal(requests.length, 1)
  assert.equal((await client.listCatalogue())[0]!.fetch, null)
  const again = await client.fetchModel('tiny', true)
  assert.equal((await again.ended).state, 'INSTALLED')
  await client.removeModel('tiny')
  assert.deepEqual(unloaded, ['tiny'])
  assert.deepEqual(readdirSync(folder), ['.downloads'])
  assert.deepEqual(readdirSync(join(folder, '.downloads')), [])
})

test('a fetch stops when all have left it; the next one resumes it, and a removal ends it for good', async (t) => {
  const [slow, slower] = [slowAnswer(), slowAnswer()]
  const { entry, requests } = await startModelHost(t, (_, response, count) =>
    (count === 1 ? slow : slower).answer(response),
  )
  const { folder, client } = await startEngine(t, [entry])
  const fetch = await client.fetchModel('tiny', true)
  await slow.started
  await untilPart(folder)
  fetch.leave()
  await assert.rejects(fetch.ended, /CANCELLED/)
  const stateOf = async () => (await client.listCatalogue())[0]!.fetch
  while ((await stateOf())?.state !== 'FAILED') continue
  assert.match((await stateOf())!.problem, /was stopped\. What was downloaded is kept/)
  const next = await client.fetchModel('tiny', true)
  await slower.started
  assert.match(requests[1]!.headers.range ?? '', /^bytes=[1-9]\d*-$/)
  await client.removeModel('tiny')
  assert.match((await next.ended).problem, /was stopped/)
  assert.equal(await stateOf(), null)
  assert.deepEqual(readdirSync(join(folder, '.downloads')), [])
  await assert.rejects(client.removeModel('tiny'), /NOT_FOUND: No model "tiny" is installed in /)
})

/** Resolves once part of the download is on disk. */
async function untilPart(folder: string): Promise<void> {
  const isThere = () =>
    readdirSync(folder, { recursive: true }).some(
      (name) => String(name).endsWith('.part') && statSync(join(folder, String(name))).size > 0,
    )
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('what may not be fetched or removed is refused with what to do', async (t) => {
  const { entry, requests } = await startModelHost(t)
  const spleeter = { ...entry, name: 'spleeter', isBuiltIn: true }
  const { client } = await startEngine(t, [entry, spleeter], { named: ['demucs'] })
  const refused: [Promise<unknown>, RegExp][] = [
    [client.fetchModel('tiny', false), /FAILED_PRECONDITION: The licence of tiny .*licence\.$/],
    [client.fetchModel('spleeter', true), /NOT_FOUND: No model "spleeter" .* only tiny\.$/],
    [client.fetchModel('../tiny', true), /NOT_FOUND/],
    [client.removeModel('mini'), /FAILED_PRECONDITION: mini came with Winnow/],
    [client.removeModel('demucs'), /FAILED_PRECONDITION: The setting MODELS .* names demucs/],
    [client.removeModel('../x'), /NOT_FOUND/],
  ]
  for (const [call, reason] of refused) await assert.rejects(call, reason)
  const elsewhere = await startEngine(t, [entry], { folder: '/proc/models' })
  await assert.rejects(
    elsewhere.client.fetchModel('tiny', true),
    /can't write \/proc\/models .*: sudo MODELS_DIR=\/proc\/models winnow model fetch tiny$/,
  )
  assert.equal(requests.length, 0)
})
