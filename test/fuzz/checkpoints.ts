/**
 * Feeds damaged checkpoints to the readers of zip archives, pickles and safetensors: each must be
 * read, or refused with a message that names the file, within a limit on memory.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LimitedProcess } from '../../engine/media/process/limited-process.ts'
import { fc } from '../support/basics/property.ts'
import {
  stateDictPickle,
  torchEntries,
  writeStateDict,
  type SavedStorage,
  type SavedTensor,
} from '../support/models/torch-file.ts'
import { writeZip } from '../support/models/zip-file.ts'
import { mutate, mutation, type Mutation } from './mutations.ts'
import type { FuzzOptions, FuzzResult } from './result.ts'

const PROGRAM = new URL('./checkpoint-program.ts', import.meta.url)
const MODELS = fileURLToPath(new URL('../../models', import.meta.url))

/** Limits the process's data: Node takes about 150 MiB of it, and the files are a few kilobytes. */
const LIMITS = { bytesMax: 320 * 2 ** 20, secondsMax: 20, niceness: 0 }

const MUTATIONS_MAX = 6
const FLOATS = 256

/** One storage of `FLOATS` 32-bit numbers, and one of half as many 16-bit numbers. */
const STORAGES: SavedStorage[] = [
  { type: 'FloatStorage', count: FLOATS, data: new Uint8Array(4 * FLOATS) },
  { type: 'HalfStorage', count: FLOATS / 2, data: new Uint8Array(FLOATS) },
]

const TENSORS: Record<string, SavedTensor> = {
  whole: { storage: 0, offset: 0, shape: [16, 16], strides: [16, 1] },
  turned: { storage: 0, offset: 0, shape: [16, 16], strides: [1, 16] },
  part: { storage: 1, offset: 8, shape: [3, 8], strides: [8, 1] },
}

interface Damage {
  /** The file's ending, by which its reader is chosen. */
  ending: '.pt' | '.safetensors'
  /** Describes the damage; fast-check prints it for a case that fails. */
  what: unknown
  /** Writes the damaged checkpoint. */
  write(path: string): void
}

const mutations = fc.array(mutation, { minLength: 1, maxLength: MUTATIONS_MAX })

/** Mutates the archive, or only the pickle inside a valid archive. */
const damagedBytes = fc
  .tuple(mutations, fc.constantFrom('archive', 'pickle'))
  .map(([what, part]): Damage => ({
    ending: '.pt',
    what: { part, mutations: what },
    write(path) {
      const stateDict = { storages: STORAGES, tensors: TENSORS }
      if (part === 'pickle') {
        const pickle = mutate(stateDictPickle(stateDict), what)
        return writeZip(path, torchEntries(pickle, STORAGES))
      }
      writeStateDict(path, stateDict)
      writeFileSync(path, mutate(readFileSync(path), what))
    },
  }))

const size = fc.oneof(
  { weight: 4, arbitrary: fc.nat(20) },
  fc.constantFrom(2 ** 16, 2 ** 31, 2 ** 40, 2 ** 53 - 1),
  fc.nat(),
)
const anyNumber = fc.oneof(size, fc.integer({ min: -5, max: 0 }))

/** Valid archives whose tensors or storages make false claims about themselves. */
const falseClaims = fc
  .record({
    axes: fc.array(fc.tuple(size, anyNumber), { maxLength: 5 }),
    offset: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, anyNumber),
    count: fc.oneof({ weight: 4, arbitrary: fc.constant(FLOATS) }, anyNumber),
    claims: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      fc.record({ bytes: size, storedBytes: size, start: size }),
    ),
  })
  .map((what): Damage => ({
    ending: '.pt',
    what,
    write(path) {
      const { axes, offset, count, claims } = what
      const [shape, strides] = [0, 1].map((i) => axes.map((axis) => axis[i]!)) as [
        number[],
        number[],
      ]
      const storages = [{ ...STORAGES[0]!, count }]
      const pickle = stateDictPickle({
        storages,
        tensors: { a: { storage: 0, offset, shape, strides } },
      })
      const entries = torchEntries(pickle, storages).map((entry) =>
        claims && entry.name.includes('/data/') ? { ...entry, claims } : entry,
      )
      writeZip(path, entries)
    },
  }))

const SAFETENSORS = JSON.stringify({
  __metadata__: { format: 'pt' },
  a: { dtype: 'F32', shape: [8, 8], data_offsets: [0, 256] },
  b: { dtype: 'BF16', shape: [64], data_offsets: [256, 384] },
})

/** Mutates the file's bytes, or makes false claims in its header. */
const damagedSafetensors = fc
  .tuple(
    fc.oneof(mutations, fc.constant<Mutation[]>([])),
    fc.record({
      dtype: fc.constantFrom('F32', 'BF16', 'F16', 'I32', 'F64', 'X'),
      shape: fc.array(anyNumber, { maxLength: 5 }),
      data_offsets: fc.array(anyNumber, { minLength: 1, maxLength: 3 }),
    }),
    fc.option(size, { nil: undefined }),
  )
  .map(([changes, entry, length]): Damage => ({
    ending: '.safetensors',
    what: { mutations: changes, entry, length },
    write(path) {
      const header = changes.length > 0 ? SAFETENSORS : JSON.stringify({ a: entry })
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(BigInt(length ?? header.length))
      const file = Buffer.concat([bytes, Buffer.from(header), Buffer.alloc(384)])
      writeFileSync(path, mutate(file, changes))
    },
  }))

/** @returns the number of cases by outcome; @throws fast-check's error, with its seed */
export async function fuzzCheckpoints({ cases, seed, onCase }: FuzzOptions): Promise<FuzzResult> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-fuzz-'))
  const start = () => new LimitedProcess<string>(PROGRAM, LIMITS, { reads: [folder, MODELS] })
  let reader = start()
  const ends: Record<string, number> = {}
  try {
    const damage = fc.oneof(damagedBytes, falseClaims, damagedSafetensors)
    const property = fc.asyncProperty(damage, async ({ ending, write }) => {
      const path = join(folder, `damaged${ending}`)
      write(path)
      if (reader.hasEnded) reader = start()
      const end = outcomeOf(await reader.call<Answer>(path), path)
      ends[end] = (ends[end] ?? 0) + 1
      onCase?.(end)
    })
    await fc.assert(property, { seed, numRuns: cases })
    return { seed, cases, ends }
  } finally {
    reader.close()
    rmSync(folder, { recursive: true })
  }
}

interface Answer {
  numbers?: number
  refusal?: string
  isPlain?: boolean
}

function outcomeOf({ numbers, refusal = '', isPlain }: Answer, path: string): string {
  if (numbers !== undefined) return 'read'
  assert.ok(isPlain, `not a refusal but a defect: ${refusal}`)
  assert.ok(refusal.includes(path), `the message does not name the file: ${refusal}`)
  return 'refused'
}
