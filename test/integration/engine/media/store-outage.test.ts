import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { StoreOutage } from '../../../../engine/media/store-outage.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'
import { serve } from '../../../support/http/serve.ts'

const log = createLogger('test', 'silent')
const atOnce = () => new Promise(setImmediate)
const answer =
  (status: number): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end()

test('a store is away until it answers anything but "not now"', async (t) => {
  const { url, requests } = await serve(t, answer(503), answer(502), answer(429), answer(404))
  const store = new StoreOutage({ log, wait: atOnce })
  assert.equal(store.current, null)
  store.reportFailure(`${url}/media/x?signature=y`)
  store.reportFailure(`${url}/media/z`)
  await Promise.resolve(store.current)
  assert.equal(requests(), 4)
  assert.equal(store.current, null)
})

test('a store that refuses connections is away until it listens again', async (t) => {
  const server = createServer(answer(404))
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  t.after(() => server.close())
  let waits = 0
  const store = new StoreOutage({
    log,
    wait: async () => {
      waits += 1
      if (waits === 3) await listen(port)
    },
  })
  store.reportFailure(`http://127.0.0.1:${port}/media/x`)
  await store.current
  assert.equal(waits, 3)
})

test('a transfer that succeeds ends the outage at once', async () => {
  const store = new StoreOutage({
    log,
    wait: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
  })
  store.reportFailure('http://127.0.0.1:1/media/x')
  assert.notEqual(store.current, null)
  store.reportSuccess()
  await store.current
  assert.equal(store.current, null)
})

test('pauses grow with each outage, up to a minute, until a transfer succeeds', async (t) => {
  const { url } = await serve(t, answer(404))
  const pauses: number[] = []
  const store = new StoreOutage({ log, wait: async (ms) => pauses.push(ms) })
  const goAway = async (times: number) => {
    for (let i = 0; i < times; i += 1) {
      store.reportFailure(url)
      await store.current
    }
  }
  await goAway(8)
  store.reportSuccess()
  await goAway(1)
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 1_000])
})
