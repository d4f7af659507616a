/**
 * Crowds of clients tie up what a server has little of: connections, heads, bodies, streams. Meanwhile
 * other clients submit: all of them must be served, and the gateway's memory must stay bounded.
 */

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { programArguments } from '../../shared/process/programs.ts'
import { createScope } from '../support/processes/scope.ts'
import { CROWDS, type CrowdOrder } from './crowds-order.ts'
import { API_KEY, startTarget, type Target } from './target.ts'

export interface CrowdOptions {
  /** Clients of each crowd. */
  clients: number
  /** Submits by other clients while the crowd is connected. */
  submits: number
  onCrowd?(report: CrowdReport): void
}

export interface CrowdReport {
  crowd: string
  clients: number
  /** Clients of the crowd whose connections the gateway had not closed by the end. */
  still_open: number
  submit_ms: { p50: number; p99: number; most: number }
  /** The gateway's resident memory in MiB: before the crowd, and the peak while it was connected. */
  rss_mib: { before: number; most: number }
}

const PROGRAM = new URL('./crowd-program.ts', import.meta.url)
const SUBMIT_EVERY_MS = 20

/** @throws AssertionError if a submit fails, or the gateway ends or outgrows its bound */
export async function fuzzCrowds({ onCrowd, ...options }: CrowdOptions): Promise<CrowdReport[]> {
  const scope = createScope()
  try {
    const target = await startTarget(scope)
    const reports: CrowdReport[] = []
    for (const crowd of CROWDS) {
      const report = await measure(target, crowd, options)
      reports.push(report)
      onCrowd?.(report)
    }
    return reports
  } finally {
    await scope.end()
  }
}

async function measure(
  target: Target,
  crowd: CrowdOrder['crowd'],
  { clients, submits }: Pick<CrowdOptions, 'clients' | 'submits'>,
): Promise<CrowdReport> {
  const { port, grpcPort } = target
  const { request_id: requestId } = await submit(target)
  const before = target.rss()
  const words = programArguments(PROGRAM)
  const program = fork(words.at(-1)!, { execArgv: words.slice(0, -1) })
  const ask = async (message: CrowdOrder | 'count') => {
    program.send(message)
    return ((await once(program, 'message')) as [number])[0]
  }
  const ms: number[] = []
  let most = before
  let stillOpen: number
  try {
    await ask({ crowd, clients, port, grpcPort, requestId })
    most = Math.max(most, target.rss())
    for (let i = 0; i < submits; i += 1) {
      const startedAt = performance.now()
      await submit(target)
      ms.push(performance.now() - startedAt)
      most = Math.max(most, target.rss())
      await sleep(SUBMIT_EVERY_MS)
    }
    await target.assertServes(clients)
    stillOpen = await ask('count')
  } finally {
    program.kill('SIGKILL')
  }
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
