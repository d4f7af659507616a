/** The gateway process that fuzzers send bytes to. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { noise } from '../support/media/signals.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { wavBytes } from '../support/media/wav.ts'

export const ADMIN_TOKEN = 'an-admin-token-for-tests-only'
export { API_KEY }

/** Longer than a gateway with the settings below waits for any bytes. */
const SILENT_MS_MAX = 30_000
/** Bounds the growth of the gateway's memory over its size at rest: in total, and per open connection. */
const RSS_GROWTH_MAX = 256 * 2 ** 20
const RSS_OF_CONNECTION_MAX = 64 * 2 ** 10

export interface Target {
  winnow: Winnow
  port: number
  grpcPort: number
  /** Id of a small file to submit. */
  fileId: string
  /** Sends the bytes and half-closes; resolves with all that came back until the gateway closed too. */
  exchange(bytes: Uint8Array, port?: number): Promise<Buffer>
  /** Returns its resident memory in bytes. */
  rss(): number
  /** Throws if the gateway has ended, does not answer, or has grown too large. */
  assertServes(connections?: number): Promise<void>
}

/** @param env extra settings for the gateway */
export async function startTarget(
  t: Pick<TestContext, 'after'>,
  env: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const winnow = await startWinnow(t, {
    engines: 0,
    env: {
      ADMIN_TOKEN,
      QUEUE_MAX: '1000000',
      STREAMS_MAX_PER_ACCOUNT: '100000',
      LOG_LEVEL: 'warn',
      ...env,
    },
  })
  const { child, ready } = winnow.gateway
  const port = Number(new URL(winnow.url).port)
  const path = join(winnow.folder, 'sound.wav')
  await writeFile(path, wavBytes([noise(0.2, 8_000)], 8_000))
  const rss = () => {
    const text = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    return 1024 * Number(/VmRSS:\s+(\d+)/.exec(text)?.[1])
  }
  const rssAtRest = rss()
  return {
    winnow,
    port,
    grpcPort: Number(ready.grpc?.split(':').at(-1)),
    fileId: await winnow.client.upload(path, 'audio/wav'),
    exchange: (bytes, to = port) => exchange(bytes, to),
    rss,
    async assertServes(connections = 0) {
      assert.equal(child.exitCode ?? child.signalCode, null, `it ended:\n${winnow.gateway.log()}`)
      const reply = await fetch(`${winnow.url}/healthz`)
      assert.equal(reply.status, 200)
      await reply.arrayBuffer()
      const growthMax = RSS_GROWTH_MAX + connections * RSS_OF_CONNECTION_MAX
      assert.ok(rss() < rssAtRest + growthMax, `from ${rssAtRest} it grew to ${rss()} bytes`)
    },
  }
}

function exchange(bytes: Uint8Array, port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port })
    socket.setTimeout(SILENT_MS_MAX, () => {
      socket.destroy()
      reject(new Error(`silence for ${SILENT_MS_MAX} ms`))
    })
    socket.on('data', (piece: Buffer) => pieces.push(piece))
    socket.on('error', () => undefined) // the gateway closed it while bytes were in flight
    socket.once('close', () => resolve(Buffer.concat(pieces)))
    socket.end(bytes)
  })
}
