/**
 * Submits 8 requests a second, fewer while 40 are under way, until standard input ends; follows
 * each by its status stream and takes its webhook; then prints as JSON what came of them. Prints
 * `submitted` for each accepted request on the way. Words: URL, key, a file of sound.
 */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Client } from '../../../clients/typescript/node.ts'
import { UnreachableError } from '../../../clients/typescript/errors.ts'

const PERIOD_MS = 125
/** A slow machine is not given more than it can do. */
const UNDER_WAY_MAX = 40
const SUBMIT_TRIES_MAX = 4
const WEBHOOKS_MS_MAX = 60_000

export interface LoadReport {
  submitted: number
  completed: number
  webhooks: number
  /** The longest that a submit took, in ms. */
  submitMsMax: number
  /** Submits that were sent again, with their idempotency key, since their connection broke. */
  repeated: number
  failures: string[]
}

const [baseUrl = '', apiKey = '', path = ''] = process.argv.slice(2)
const report: LoadReport = {
  submitted: 0,
  completed: 0,
  webhooks: 0,
  submitMsMax: 0,
  repeated: 0,
  failures: [],
}
const delivered = new Set<string>()
const receiver = createServer(async (request, answer) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  delivered.add((JSON.parse(Buffer.concat(pieces).toString()) as { request_id: string }).request_id)
  answer.end()
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

const fileId = await createClient({ baseUrl, apiKey }).upload(path, 'audio/wav')
const underWay = new Set<Promise<void>>()
let isOver = false
process.stdin.once('end', () => (isOver = true)).resume()
console.log('started')
for (let at = performance.now(); !isOver; at += PERIOD_MS) {
  if (underWay.size < UNDER_WAY_MAX) {
    const started = request().finally(() => underWay.delete(started))
    underWay.add(started)
  }
  await sleep(Math.max(0, at + PERIOD_MS - performance.now()))
}
await Promise.all(underWay)
const deadline = performance.now() + WEBHOOKS_MS_MAX
while (delivered.size < report.completed && performance.now() < deadline) await sleep(100)
console.log(JSON.stringify({ ...report, webhooks: delivered.size } satisfies LoadReport))
process.exit()

/**
 * As a client does that keeps its connections open: a killed gateway breaks all of them, and the
 * next call takes another of those until this process has read that they are closed.
 */
async function submit(client: Client) {
  const submission = { input: { file_id: fileId, prompt: 'noise' }, webhookUrl }
  const options = { idempotencyKey: randomUUID() }
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.submit(submission, options)
    } catch (error) {
      if (!(error instanceof UnreachableError) || tries === SUBMIT_TRIES_MAX) throw error
      report.repeated += 1
      await sleep(PERIOD_MS * tries)
    }
  }
}

async function request(): Promise<void> {
  const startedAt = performance.now()
  const client = createClient({ baseUrl, apiKey, retries: 0 }) // `submit` counts its own
  report.submitted += 1
  try {
    const submitted = await submit(client)
    console.log('submitted')
    report.submitMsMax = Math.max(report.submitMsMax, Math.round(performance.now() - startedAt))
    for await (const { status, error } of client.follow(submitted)) {
      if (status === 'COMPLETED') report.completed += 1
      if (status === 'FAILED') report.failures.push(`${submitted.request_id}: ${error?.code}`)
    }
  } catch (error) {
    report.failures.push((error as Error).message)
  }
}
