/** Profiles a thread, and sums up its time by stage. */
import { Session, type Profiler } from 'node:inspector/promises'

/** The share of a thread's busy time that each stage takes. */
export type Stages = Record<string, number>

/**
 * A function belongs to the first stage whose pattern matches its file and name, or else to the
 * stage of its caller.
 */
export type StageFiles = readonly (readonly [stage: string, file: RegExp])[]

const INTERVAL_MICROS = 500

export class StageProfile {
  readonly #session = new Session()

  async start(): Promise<void> {
    this.#session.connect()
    await this.#session.post('Profiler.enable')
    await this.#session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROS })
    await this.#session.post('Profiler.start')
  }

  async stop(files: StageFiles): Promise<Stages> {
    const { profile } = await this.#session.post('Profiler.stop')
    this.#session.disconnect()
    return stagesOf(profile, files)
  }
}

const IDLE = 'idle'
const NATIVE: Readonly<Record<string, string>> = {
  '(idle)': IDLE,
  '(program)': 'messages and others',
  '(garbage collector)': 'garbage collection',
}

function stagesOf(
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile,
  files: StageFiles,
): Stages {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const stages = new Map<number, string>()
  const enter = (id: number, callers: string): void => {
    const { callFrame, children = [] } = byId.get(id)!
    const { functionName: name, url } = callFrame
    const named = files.find(([, file]) => file.test(`${url} ${name}`))?.[0]
    const stage = NATIVE[name] ?? named ?? callers
    stages.set(id, stage)
    for (const child of children) enter(child, stage)
  }
  enter(nodes[0]!.id, 'messages and others')
  const times: Stages = {}
  let busy = 0
  for (const [i, id] of samples.entries()) {
    const stage = stages.get(id)!
    if (stage === IDLE) continue
    times[stage] = (times[stage] ?? 0) + timeDeltas[i]!
    busy += timeDeltas[i]!
  }
  return Object.fromEntries(Object.entries(times).map(([stage, time]) => [stage, time / busy]))
}
