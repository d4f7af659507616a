/**
 * Submits 8 requests a second, or fewer while 40 are in flight, until standard input ends. Follows
 * each by its status stream and receives its webhook, and finally prints a report as JSON. Prints
 * `submitted` for each accepted request. Arguments: URL, key, a sound file.
 */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Client } from '../../../clients/typescript/node.ts'
import { UnreachableError } from '../../../clients/typescript/errors.ts'

const PERIOD_MS = 125
/** Keeps a slow machine from being overloaded. */
const UNDER_WAY_MAX = 40
const SUBMIT_ATTEMPTS_MAX = 4
const WEBHOOKS_MS_MAX = 60_000

export interface LoadReport {
  submitted: number
  completed: number
  webhooks: number
  /** Duration of the slowest submit. */
  submitMsMax: number
  /** Submits that were repeated with the same idempotency key because the connection broke. */
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
 * Retries like a client with keep-alive connections: a killed gateway breaks all of them, and the
 * next call uses another broken one until this process has noticed.
 */
async function submit(client: Client) {
  const submission = { input: { file_id: fileId, prompt: 'noise' }, webhookUrl }
  const options = { idempotencyKey: randomUUID() }
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.submit(submission, options)
    } catch (error) {
      if (!(error instanceof UnreachableError) || tries === SUBMIT_ATTEMPTS_MAX) throw error
      report.repeated += 1
      await sleep(PERIOD_MS * tries)
    }
  }
}

async function request(): Promise<void> {
  const startedAt = performance.now()
  const client = createClient({ baseUrl, apiKey, retries: 0 }) // `submit` counts retries itself
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
