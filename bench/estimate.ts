/**
 * Question: how accurate is `estimated_seconds_left` while the queue is loaded?
 *
 * `node --import tsx bench/estimate.ts [requests]`: starts nats-server, a gateway and an engine
 * with four places, and then
 * - separates a minute of sound alone, in turns of every `acceleration` and of two prompts: one
 * JSON line of their times relative to `balanced` (quartiles over the turns);
 * - submits the requests at once: 4 to 90 s of noise, some for two prompts, some `fast` or
 * `quality`, most of a kind that is new to the service, and reads all statuses every second. One
 * JSON line for requests in the queue while the service still estimates from the speed of requests
 * alone, one for those after that, one for those in progress: predicted over true (quartiles, and
 * the share within a factor of 1.5), how much a prediction changes from one second to the next
 * beyond the second that passed, and how many statuses had no prediction.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Status } from '../clients/typescript/node.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { noise } from '../test/support/media/signals.ts'
import { startWinnow, submitFile } from '../test/support/processes/start-winnow.ts'
import { wavBytes } from '../test/support/media/wav.ts'
import { quantile, report, round } from './report.ts'

const requests = Number(process.argv[2] ?? 40)
const SAMPLE_RATE = 44_100
const SECONDS = [4, 20, 60, 8, 90, 30, 12, 45]
/** Predictions nearer to the end are left out, because there a second is a large ratio. */
const LEFT_SECONDS_MIN = 3
/** The service estimates its speed from this many of the last completed requests. */
const COMPLETED = 16
/** How often each kind is measured. */
const TURNS = 7

interface Prediction {
  at: number
  status: Status['status']
  secondsLeft: number | undefined
}

const scope = createScope()
const winnow = await startWinnow(scope, { env: { JOBS_MAX: '4' } })
const paths = new Map<number, string>()
for (const seconds of SECONDS) {
  const path = join(winnow.folder, `noise-${seconds}.wav`)
  await writeFile(path, wavBytes([noise(seconds, SAMPLE_RATE, seconds)], SAMPLE_RATE))
  paths.set(seconds, path)
}

const KINDS = {
  balanced: { prompt: 'beep' },
  fast: { prompt: 'beep', acceleration: 'fast' },
  quality: { prompt: 'beep', acceleration: 'quality' },
  two_prompts: { prompts: ['beep', 'wind'] },
} satisfies Record<string, Parameters<typeof submitFile>[2]>

/**
 * Eleven requests: since that is no multiple of the number of lengths, every kind comes with all
 * lengths.
 */
const LOAD = [
  KINDS.balanced,
  KINDS.fast,
  KINDS.balanced,
  KINDS.quality,
  KINDS.two_prompts,
  KINDS.balanced,
  KINDS.balanced,
  KINDS.quality,
  KINDS.fast,
  KINDS.two_prompts,
  KINDS.balanced,
]

const submit = (i: number) =>
  submitFile(winnow, paths.get(SECONDS[i % SECONDS.length]!)!, LOAD[i % LOAD.length]!)

await reportCosts()
const ids = []
for (let i = 0; i < requests; i += 1) ids.push((await submit(i)).request_id)
const { seen, endedAt } = await watch(new Set(ids))
/** From then on, the service's speed estimate is based on this load alone. */
const settledAt = [...endedAt.values()].sort((a, b) => a - b)[COMPLETED] ?? Infinity
reportStatus('IN_QUEUE', 'speed of requests alone', ({ at }) => at < settledAt)
reportStatus('IN_QUEUE', 'speed of this load', ({ at }) => at >= settledAt)
reportStatus('IN_PROGRESS', 'any', () => true)
await scope.end()

/** Reports how long an engine takes for a minute of each kind, alone, relative to `balanced`. */
async function reportCosts(): Promise<void> {
  const names = Object.keys(KINDS) as (keyof typeof KINDS)[]
  const seconds = new Map(names.map((name) => [name, [] as number[]]))
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const name of names) {
      const submitted = await submitFile(winnow, paths.get(60)!, KINDS[name])
      await winnow.client.wait(submitted)
      const { logs = [] } = await winnow.client.status(submitted, { logs: true })
      const [from, to] = [logs[0]!, logs.at(-1)!].map(({ timestamp }) => Date.parse(timestamp))
      seconds.get(name)!.push((to! - from!) / 1_000)
    }
  }
  const balanced = seconds.get('balanced')!
  report('estimate', {
    balanced_seconds: quartiles(balanced),
    beside_balanced: Object.fromEntries(
      names.map((name) => [name, quartiles(seconds.get(name)!.map((s, i) => s / balanced[i]!))]),
    ),
    n: TURNS,
  })
}

/** Reads every status each second, until all requests have ended. */
async function watch(open: Set<string>) {
  const [seen, endedAt] = [new Map<string, Prediction[]>(), new Map<string, number>()]
  while (open.size > 0) {
    const { data } = await winnow.client.list({ limit: 100 })
    const at = performance.now()
    for (const { request_id: id, status, estimated_seconds_left: secondsLeft } of data) {
      if (!open.has(id)) continue
      if (status === 'FAILED') throw new Error(`${id} failed`)
      if (status === 'COMPLETED') {
        endedAt.set(id, at)
        open.delete(id)
      } else seen.set(id, [...(seen.get(id) ?? []), { at, status, secondsLeft }])
    }
    await sleep(1_000)
  }
  return { seen, endedAt }
}

function reportStatus(
  wanted: Status['status'],
  speed: string,
  isIncluded: (prediction: Prediction) => boolean,
): void {
  const [ratios, steps]: number[][] = [[], []]
  let absent = 0
  for (const [id, predictions] of seen) {
    const chosen = predictions.filter(
      (prediction) => prediction.status === wanted && isIncluded(prediction),
    )
    for (const [i, { at, secondsLeft }] of chosen.entries()) {
      const trueSeconds = (endedAt.get(id)! - at) / 1_000
      if (secondsLeft === undefined) absent += 1
      else if (trueSeconds >= LEFT_SECONDS_MIN) ratios!.push(secondsLeft / trueSeconds)
      const before = chosen[i - 1]
      if (before?.secondsLeft === undefined || secondsLeft === undefined) continue
      const passed = (at - before.at) / 1_000
      steps!.push(Math.abs(secondsLeft - Math.max(0, before.secondsLeft - passed)))
    }
  }
  const within = ratios!.filter((ratio) => ratio > 1 / 1.5 && ratio < 1.5).length
  report('estimate', {
    status: wanted,
    speed,
    requests,
    predicted_over_true: quartiles(ratios!),
    within_1_5: round(within / ratios!.length),
    step_seconds: quartiles(steps!),
    n: ratios!.length,
    absent,
  })
}

function quartiles(values: readonly number[]) {
  const [lower, median, upper] = [0.25, 0.5, 0.75].map((share) => round(quantile(values, share)))
  return { lower, median, upper }
}
