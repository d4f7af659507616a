/** Measures whole requests through gateway, broker and engine: many at once, and for some time. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cpuSeconds, threadSeconds } from '../../process-usage.ts'
import { connectEngine } from '../../../shared/engine-control.ts'
import { createScope } from '../../../test/support/processes/scope.ts'
import { noise } from '../../../test/support/media/signals.ts'
import { wavBytes } from '../../../test/support/media/wav.ts'
import {
  separateFile,
  startWinnow,
  type Winnow,
} from '../../../test/support/processes/start-winnow.ts'
import type { Options, Run, Row } from '../options.ts'

const RATE = 44_100
/** The first turn also builds the graphs of its batches and starts media processes. */
const TURNS = 4
const SETTINGS = { JOBS_MAX: '64', PRECISION: process.env.PRECISION ?? 'auto' }

export const servicePart: Run = async function* (options, hasTime) {
  for (const engines of options.engines) {
    if (!hasTime()) break
    yield* withService(engines, (winnow) => requestsAtOnce(winnow, options, hasTime))
  }
}

async function* requestsAtOnce(
  winnow: Winnow,
  { requests, seconds }: Options,
  hasTime: () => boolean,
): AsyncGenerator<Row> {
  const file = await soundFile(winnow, seconds)
  const separate = () => separateFile(winnow, file, { prompt: 'rain' })
  await separate()
  for (const count of requests) {
    const before = cpuTimes(winnow)
    const taken: number[] = []
    for (let turn = 0; turn < TURNS && hasTime(); turn += 1) {
      const startedAt = performance.now()
      await Promise.all(Array.from({ length: count }, separate))
      taken.push((performance.now() - startedAt) / 1_000)
    }
    const [first, best] = [taken[0], Math.min(...taken)]
    if (first === undefined) break
    const after = cpuTimes(winnow)
    const cost = (name: keyof CpuTimes) =>
      (1_000 * (after[name] - before[name])) / (count * taken.length)
    yield {
      engines: winnow.engines.length,
      requests: count,
      'seconds of each': seconds,
      turns: taken.length,
      'first turn, s': first,
      'best turn, s': best,
      'audio-seconds a second': (count * seconds) / best,
      'of each in the gateway, ms': cost('gateway'),
      'engine, ms': cost('engine'),
      'its first thread, ms': cost('engineMain'),
      'media, ms': cost('media'),
      'this client, ms': cost('client'),
    }
  }
}

type CpuTimes = ReturnType<typeof cpuTimes>

/** CPU seconds used by each. Whatever was busy all the time is the bottleneck. */
function cpuTimes({ gateway, engines }: Winnow) {
  const pids = engines.map(({ child }) => child.pid!)
  const spent = pids.map(cpuSeconds)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const { user, system } = process.cpuUsage()
  return {
    gateway: cpuSeconds(gateway.child.pid!).own,
    engine: sum(spent.map(({ own }) => own)),
    engineMain: sum(pids.map((pid) => threadSeconds(pid))),
    media: sum(spent.map(({ children }) => children)),
    client: (user + system) / 1e6,
  }
}

export const soakPart: Run = ({ soakSeconds, seconds }) =>
  withService(1, async function* (winnow) {
    const file = await soundFile(winnow, seconds)
    const engine = connectEngine(winnow.engines[0]!.ready.control!)
    const separate = () => separateFile(winnow, file, { prompt: 'rain' })
    await separate()
    const residentBytes = async () => (await engine.stats()).memory_bytes
    const before = await residentBytes()
    const startedAt = performance.now()
    const isGoing = () => performance.now() - startedAt < 1_000 * soakSeconds
    let done = 0
    const client = async () => {
      while (isGoing()) {
        await separate()
        done += 1
      }
    }
    await Promise.all(Array.from({ length: 4 }, client))
    const after = await residentBytes()
    engine.close()
    const mib = (bytes: number) => Math.round(bytes / 2 ** 20)
    yield {
      seconds: (performance.now() - startedAt) / 1_000,
      'requests completed': done,
      'engine before, MiB': mib(before),
      'engine after, MiB': mib(after),
    }
  })

async function* withService(engines: number, work: (winnow: Winnow) => AsyncGenerator<Row>) {
  const scope = createScope()
  try {
    yield* work(await startWinnow(scope, { engines, env: SETTINGS }))
  } finally {
    await scope.end()
  }
}

async function soundFile({ folder }: Winnow, seconds: number): Promise<string> {
  const path = join(folder, 'gpu-report.wav')
  const waves = [1, 2].map((seed) => noise(seconds, RATE, seed))
  await writeFile(path, wavBytes(waves, RATE))
  return path
}
