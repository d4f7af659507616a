/**
 * Crowds of clients that hold what a server has little of: connections, heads, bodies, streams. While
 * each crowd is there others submit: all of them are served, and the gateway's memory is bounded.
 */

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createScope, type Scope } from '../support/processes/scope.ts'
import { CROWDS, type CrowdOrder } from './crowds-order.ts'
import { API_KEY, startTarget, type Target } from './target.ts'

export interface CrowdOptions {
  /** Clients of each crowd. */
  clients: number
  /** Submits of others while it is there. */
  submits: number
  onCrowd?(report: CrowdReport): void
}

export interface CrowdReport {
  crowd: string
  clients: number
  /** Clients whose connection the gateway had not closed by the end. */
  still_open: number
  submit_ms: { p50: number; p99: number; most: number }
  /** The gateway's, in MiB: before, and the most while the crowd was there. */
  rss_mib: { before: number; most: number }
}

const PROGRAM = fileURLToPath(new URL('./crowd-program.ts', import.meta.url))
const SUBMIT_EVERY_MS = 20

/** @throws AssertionError when a submit fails, or the gateway ends or grows beyond its bound */
export async function fuzzCrowds({ onCrowd, ...options }: CrowdOptions): Promise<CrowdReport[]> {
  const reports: CrowdReport[] = []
  for (const crowd of CROWDS) {
    const scope = createScope()
    try {
      const report = await measure(scope, crowd, options)
      reports.push(report)
      onCrowd?.(report)
    } finally {
      await scope.end()
    }
  }
  return reports
}

async function measure(
  scope: Scope,
  crowd: CrowdOrder['crowd'],
  { clients, submits }: Pick<CrowdOptions, 'clients' | 'submits'>,
): Promise<CrowdReport> {
  const target = await startTarget(scope)
  const { port, grpcPort } = target
  const { request_id: requestId } = await submit(target)
  const before = target.rss()
  const program = fork(PROGRAM, { execArgv: ['--import', 'tsx'] })
  scope.after(() => program.kill('SIGKILL'))
  const told = async (message: CrowdOrder | 'count') => {
    program.send(message)
    return ((await once(program, 'message')) as [number])[0]
  }
  await told({ crowd, clients, port, grpcPort, requestId })
  const ms: number[] = []
  let most = target.rss()
  for (let i = 0; i < submits; i += 1) {
    const startedAt = performance.now()
    await submit(target)
    ms.push(performance.now() - startedAt)
    most = Math.max(most, target.rss())
    await sleep(SUBMIT_EVERY_MS)
  }
  await target.assertServes(clients)
  const stillOpen = await told('count')
  ms.sort((a, b) => a - b)
  const quantile = (share: number) => Math.round(10 * ms[Math.floor(share * (ms.length - 1))]!) / 10
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  return {
    crowd,
    clients,
    still_open: stillOpen,
    submit_ms: { p50: quantile(0.5), p99: quantile(0.99), most: quantile(1) },
    rss_mib: { before: mebibytes(before), most: mebibytes(most) },
  }
}

async function submit({ winnow, fileId }: Target): Promise<{ request_id: string }> {
  const reply = await fetch(`${winnow.url}/v1/queue/audio/separate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: { prompt: 'a bell', file_id: fileId } }),
  })
  assert.equal(reply.status, 202)
  return (await reply.json()) as { request_id: string }
}
