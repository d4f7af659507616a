/** Reads checkpoints of HTDemucs as published by its authors, such as `955717e8-8726e21a.th`. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

export interface HTDemucsCheckpoint {
  /** Keyword arguments of the constructor as plain data; `segment` is a string such as '39/5'. */
  kwargs: Readonly<Record<string, unknown>>
  tensors: ReadonlyMap<string, StoredTensor>
}

/** Stands for a class that the pickle names; nothing is instantiated. */
const NETWORK = Symbol('demucs.htdemucs.HTDemucs')
const GLOBALS = { 'demucs.htdemucs.HTDemucs': NETWORK, 'fractions.Fraction': fractionText }

/**
 * Reads the arguments and the names of the tensors, and skips the training state.
 * @throws Error naming the file if it is damaged or not an HTDemucs checkpoint
 */
export function openHTDemucsCheckpoint(file: string): HTDemucsCheckpoint {
  const root = readTorchFile(file, { globals: GLOBALS })
  const part = (name: string) => (root instanceof Map ? root.get(name) : undefined)
  if (part('klass') !== NETWORK) {
    throw new Error(`${file}: is not a checkpoint of HTDemucs`)
  }
  return { kwargs: argumentsOf(file, part('kwargs')), tensors: stateDictOf(file, part('state')) }
}

/** Returns fractions.Fraction('39/5') or Fraction(39, 5) as a string. */
function fractionText(values: readonly unknown[]): string {
  const text = values.join('/')
  if (/^\d{1,6}(\/\d{1,6})?$/.test(text)) return text
  throw new Error('a fraction is not made of whole numbers')
}

function argumentsOf(file: string, kwargs: unknown): Record<string, unknown> {
  if (!(kwargs instanceof Map)) throw new Error(`${file}: its arguments are no dictionary`)
  for (const [name, value] of kwargs) {
    if (isPlain(value) || (Array.isArray(value) && value.every(isPlain))) continue
    throw new Error(`${file}: its argument ${String(name).slice(0, 100)} is no plain value`)
  }
  return Object.fromEntries([...kwargs].map(([name, value]) => [String(name), value]))
}

const isPlain = (value: unknown): boolean =>
  value === null || ['boolean', 'number', 'string'].includes(typeof value)
