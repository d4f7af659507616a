/** Defines the command line of `gpu-report`, and runs its parts. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  action,
  command,
  FLAG,
  TEXT,
  UsageError,
  type CommandIo,
} from '../../scripts/cli/command.ts'
import { hasCudaBuild } from '../../scripts/cli/machine.ts'
import { driverText, driverVersion } from '../../scripts/setup/nvidia-driver.mjs'
import { ON_GPU, ON_PROCESSOR, type PartReport, type Options, type Part } from './options.ts'
import { PARTS } from './parts.ts'
import { markdown, type PartResult, type Programme } from './report.ts'

const HELP = `Usage: npm run winnow -- gpu-report --out DIR [options]

Shows in about 14 minutes on a GPU host what a GPU does here: what the host has, kernels, parity in
float32, TF32 and bfloat16, the ladder from plain operations to graphs that XLA compiles, with the
first step of it that is wrong or slow, speed of mini, the open models and SAM-Audio's transformer
and codec by batch, whole requests, memory against its prediction, and a soak. Each part runs in a
process of its own; one whose file is in DIR is not run again, so that the programme can be
interrupted. The rows of a part that fails are kept. DIR then has report.json and report.md. Without
a GPU the shapes are tiny: it shows that the programme runs.
  --parts A,B      of: ${Object.keys(PARTS).join(', ')}
  --sizes A,B      of SAM-Audio: tiny, small, base, large
  --models A,B     of the open ones: htdemucs, audiosep, roformer
  --batches 1,2,4  lanes of a batch        --requests 1,4  requests at once
  --seconds N      of each chunk and file  --soak N        seconds
  --engines 1,4    on the card at once, for whole requests
  --pytorch FILE   a Python with PyTorch, whose transformer is timed too
  --limit N        ends a part after N seconds, if its own limit is longer
  --again          runs parts again whose files are there

The exit code is 0 when every part has ended well, 1 when one has not, 2 when the command line is
wrong.
`

/** Extra time for a part's process to start and to load what it needs. */
const START_SECONDS = 60
/** Factor for limits on a CPU, where everything takes longer and nothing is measured. */
const PATIENCE = 4

export const gpuReport = command({
  help: HELP,
  actions: action({
    options: {
      out: TEXT,
      parts: TEXT,
      sizes: TEXT,
      models: TEXT,
      batches: TEXT,
      seconds: TEXT,
      requests: TEXT,
      engines: TEXT,
      soak: TEXT,
      limit: TEXT,
      pytorch: TEXT,
      again: FLAG,
    },
    async run({ again, ...values }, _operands, io) {
      const names = list(values.parts) ?? Object.keys(PARTS)
      const unknown = names.filter((name) => !Object.hasOwn(PARTS, name))
      if (unknown.length > 0) throw new UsageError(`There is no part ${unknown.join(', ')}.`)
      if (!values.out) throw new UsageError('Give a folder for the results: --out DIR.')
      const options = readOptions(values)
      const out = resolve(values.out)
      mkdirSync(join(out, 'parts'), { recursive: true })
      for (const name of names) {
        const file = join(out, 'parts', `${name}.json`)
        if (again) rmSync(file, { force: true })
        if (!existsSync(file)) await runPart(name, file, options, io)
      }
      const programme = collect(out, options)
      writeFileSync(join(out, 'report.json'), `${JSON.stringify(programme, null, 1)}\n`)
      writeFileSync(join(out, 'report.md'), markdown(programme))
      io.stdout.write(`${join(out, 'report.md')}\n`)
      const failed = names.filter((name) => programme.parts[name]?.failure !== undefined)
      if (failed.length > 0) io.stderr.write(`not ended well: ${failed.join(', ')}\n`)
      return failed.length === 0 ? 0 : 1
    },
  }),
})

function readOptions(values: Readonly<Record<string, string | undefined>>): Options {
  const defaults = hasGpu() ? ON_GPU : ON_PROCESSOR
  const options: Options = {
    sizes: list(values.sizes) ?? defaults.sizes,
    models: list(values.models) ?? defaults.models,
    batches: list(values.batches)?.map(Number) ?? defaults.batches,
    seconds: Number(values.seconds ?? defaults.seconds),
    requests: list(values.requests)?.map(Number) ?? defaults.requests,
    engines: list(values.engines)?.map(Number) ?? defaults.engines,
    soakSeconds: Number(values.soak ?? defaults.soakSeconds),
    limitSeconds: Number(values.limit ?? defaults.limitSeconds),
    pytorch: values.pytorch ?? defaults.pytorch,
  }
  const { batches, requests, engines, seconds, soakSeconds, limitSeconds } = options
  const numbers = [...batches, ...requests, ...engines, seconds, soakSeconds, limitSeconds]
  if (!numbers.every((number) => number > 0)) throw new UsageError('Sizes are numbers above 0.')
  return options
}

const list = (text: string | undefined): string[] | undefined => text?.split(',')

const hasGpu = (): boolean => hasCudaBuild() === true && driverText() !== null

/**
 * Runs a part in its own process. Its file then says how it ended, unless the programme itself is
 * interrupted.
 */
async function runPart(
  name: string,
  file: string,
  options: Options,
  { stdout }: CommandIo,
): Promise<void> {
  const part = PARTS[name]!
  stdout.write(`${name}: ${part.title}\n`)
  const startedAt = performance.now()
  const partialFile = `${file}.partial`
  rmSync(partialFile, { force: true })
  const failure = await inProcess(part, options, [name, file, JSON.stringify(options)])
  const seconds = (performance.now() - startedAt) / 1_000
  const partial = existsSync(partialFile)
    ? (JSON.parse(readFileSync(partialFile, 'utf8')) as PartResult)
    : { title: part.title, rows: [] }
  rmSync(partialFile, { force: true })
  if (existsSync(file)) return
  const result: PartResult = { ...partial, seconds, failure: failure || 'no answer' }
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`)
  stdout.write(`  failed: ${result.failure}\n`)
}

/** @returns one line about what went wrong; empty if nothing did */
function inProcess(
  { secondsMax, env }: Part,
  { limitSeconds }: Options,
  args: readonly string[],
): Promise<string> {
  const program = fileURLToPath(new URL('part.ts', import.meta.url))
  const patience = hasGpu() ? 1 : PATIENCE
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 1_000 * Math.min(limitSeconds, (START_SECONDS + secondsMax) * patience),
    killSignal: 'SIGKILL',
  })
  let errors = ''
  child.stderr.on('data', (text: Buffer) => {
    errors = (errors + text.toString()).slice(-10_000)
  })
  return new Promise((done) => {
    child.once('error', (error) => done(error.message))
    child.once('close', (code, signal) => {
      const [, line] = /^((?:\w*Error|Error \[\w+\]): .+)$/m.exec(errors) ?? []
      done(code === 0 ? '' : (line ?? `ended with ${signal ?? code}`))
    })
  })
}

function collect(out: string, options: Options): Programme {
  const parts = Object.keys(PARTS).flatMap((name) => {
    const file = join(out, 'parts', `${name}.json`)
    if (!existsSync(file)) return []
    return [[name, JSON.parse(readFileSync(file, 'utf8')) as PartResult & PartReport] as const]
  })
  return {
    machine: {
      cpus: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
      memoryBytes: totalmem(),
      driver: driverText() === null ? 'none' : driverVersion(driverText()!),
      isOnGpu: hasGpu(),
    },
    options,
    parts: Object.fromEntries(parts),
  }
}
