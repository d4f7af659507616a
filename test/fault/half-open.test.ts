/** One end of a connection disappears silently; the other end must notice by itself. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { examplePath } from '../support/media/examples.ts'
import { followToEnd, startWinnow, submitFile } from '../support/processes/start-winnow.ts'
import { startTcpProxy } from '../support/http/tcp-proxy.ts'

/** Noticing takes half a minute; a NATS client with its default settings would need six. */
const timeout = 300_000

test(
  'an engine whose broker disappears silently opens a new connection',
  { timeout },
  async (t) => {
    const winnow = await startWinnow(t, { engines: 0 })
    const broker = new URL(winnow.nats.url)
    const proxy = await startTcpProxy(t, [Number(broker.port)])
    broker.port = String(proxy.port)
    await winnow.startEngine({ NATS_URL: broker.href })
    const separate = async () => {
      const submitted = await submitFile(winnow, examplePath('speech-over-piano.wav'), {
        prompt: 'piano',
      })
      return (await followToEnd(winnow, submitted)).at(-1)?.status
    }
    assert.equal(await separate(), 'COMPLETED')
    proxy.halfOpen('server')
    assert.equal(await separate(), 'COMPLETED')
  },
)
