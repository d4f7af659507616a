/** Submits at random times, so many a second, to one gateway or several in turn. */

import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

interface SubmitLoad {
  /** The gateways'. */
  urls: readonly string[]
  apiKey: string
  /** JSON. */
  body: string
  perSecond: number
  seconds: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Closes the connections that were kept. */
export const endSubmits = (): void => agent.destroy()

/**
 * Submits with exponential gaps and waits for all the answers. A submit is timed from when it was
 * due, so that a late client or a full event loop counts.
 */
export async function submitFor({ urls, apiKey, body, perSecond, seconds }: SubmitLoad) {
  const startedAt = performance.now()
  const ms: number[] = []
  const waiting = new Set<Promise<void>>()
  let [failed, flights, count] = [0, 0, 0]
  for (let dueAt = startedAt; dueAt < startedAt + 1_000 * seconds;) {
    const waitMs = dueAt - performance.now()
    if (waitMs > 0.5) await sleep(waitMs)
    const since = dueAt
    const url = urls[(count += 1) % urls.length]!
    const answered = submit(url, apiKey, body).then((status) => {
      if (status === 202) ms.push(performance.now() - since)
      else failed += 1
      waiting.delete(answered)
    })
    waiting.add(answered)
    flights = Math.max(flights, waiting.size)
    dueAt += (-Math.log(1 - Math.random()) * 1_000) / perSecond
  }
  await Promise.all(waiting)
  return { ms, failed, flights }
}

async function submit(url: string, apiKey: string, body: string): Promise<number> {
  const call = request(`${url}/v1/queue/audio/separate`, {
    method: 'POST',
    agent,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  })
  const [answer] = (await once(call.end(body), 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return answer.statusCode ?? 0
}
