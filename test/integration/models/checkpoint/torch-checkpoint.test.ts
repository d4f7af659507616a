import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  openTorchCheckpoint,
  readTorchFile,
  stateDictOf,
} from '../../../../models/checkpoint/torch-checkpoint.ts'
import { INERT } from '../../../../models/checkpoint/unpickle.ts'
import { openZip } from '../../../../models/checkpoint/zip-entries.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { fc } from '../../../support/basics/property.ts'
import {
  dictionaryPickle,
  op,
  stateDictPickle,
  tensorPickle,
  torchEntries,
  writeStateDict,
  type SavedStorage,
  type SavedTensor,
  type StateDict,
} from '../../../support/models/torch-file.ts'
import { writeZip, type Entry } from '../../../support/models/zip-file.ts'

const folder = temporaryFolder({ after })
const file = join(folder, 'checkpoint.pt')

/** Encodes whole numbers up to 256 in each type; all types represent them exactly. */
const ENCODE: Record<string, (numbers: readonly number[]) => ArrayBufferView> = {
  FloatStorage: (numbers) => Float32Array.from(numbers),
  IntStorage: (numbers) => Int32Array.from(numbers),
  BFloat16Storage: (numbers) =>
    Uint16Array.from(new Uint32Array(Float32Array.from(numbers).buffer), (bits) => bits >>> 16),
  HalfStorage: (numbers) =>
    Uint16Array.from(numbers, (number) => {
      if (number === 0) return 0
      const exponent = Math.floor(Math.log2(Math.abs(number)))
      const fraction = (Math.abs(number) / 2 ** exponent - 1) * 1024
      return (number < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction
    }),
}

function storageOf(type: string, numbers: readonly number[]): SavedStorage {
  const { buffer, byteOffset, byteLength } = ENCODE[type]!(numbers)
  return { type, count: numbers.length, data: new Uint8Array(buffer, byteOffset, byteLength) }
}

const plain = (storage: number, shape: number[], offset = 0): SavedTensor => {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1))
  return { storage, offset, shape, strides }
}

const floats = (count: number) =>
  storageOf(
    'FloatStorage',
    Array.from({ length: count }, (_, i) => i),
  )

const valuesOf = (name: string) => [...openTorchCheckpoint(file).get(name)!.values()]

/** Opens the file and reads all its tensors. */
const readAll = () => [...openTorchCheckpoint(file).values()].map(({ values }) => values())

interface Drawn {
  type: string
  numbers: number[]
  /**
   * For each tensor: sizes, the order of its axes in memory, the step between numbers, an offset.
   */
  tensors: { shape: number[]; order: number[]; step: number; offset: number }[]
}

const drawnStorage: fc.Arbitrary<Drawn> = fc.record({
  type: fc.constantFrom(...Object.keys(ENCODE)),
  numbers: fc.array(fc.integer({ min: -256, max: 256 }), { minLength: 200, maxLength: 400 }),
  tensors: fc.array(
    fc
      .array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 })
      .chain((shape) =>
        fc.record({
          shape: fc.constant(shape),
          order: fc.shuffledSubarray([...shape.keys()], { minLength: shape.length }),
          step: fc.integer({ min: 1, max: 3 }),
          offset: fc.integer({ min: 0, max: 8 }),
        }),
      ),
    { maxLength: 4 },
  ),
})

/** Lays out a tensor with its axes in any order, as transposing and slicing do. */
function layOut(
  storage: number,
  { shape, order, step, offset }: Drawn['tensors'][number],
): SavedTensor {
  const strides = shape.map(() => 0)
  let stride = step
  for (const axis of order) {
    strides[axis] = stride
    stride *= Math.max(1, shape[axis]!)
  }
  return { storage, offset, shape, strides }
}

/** Finds the numbers of a tensor one by one from their indices. */
function expectedValues(
  numbers: readonly number[],
  { shape, strides, offset }: SavedTensor,
): number[] {
  const count = shape.reduce((a, b) => a * b, 1)
  return Array.from({ length: count }, (_, i) => {
    let rest = i
    let place = offset
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      place += (rest % shape[axis]!) * strides[axis]!
      rest = Math.floor(rest / shape[axis]!)
    }
    return numbers[place]!
  })
}

test('any state dict is read back: every type, shared storages, offsets, strides', () => {
  const zip = fc.record({
    wide: fc.boolean(),
    padding: fc.nat(100),
    comment: fc.string({ maxLength: 20 }),
  })
  fc.assert(
    fc.property(fc.array(drawnStorage, { maxLength: 4 }), zip, (drawn, options) => {
      const storages = drawn.map(({ type, numbers }) => storageOf(type, numbers))
      const expectedTensors = drawn.flatMap(({ tensors }, storage) =>
        tensors.map((tensor, i) => [`layer.${storage}.${i}`, layOut(storage, tensor)] as const),
      )
      writeStateDict(file, { storages, tensors: Object.fromEntries(expectedTensors) }, options)
      const read = openTorchCheckpoint(file)
      assert.deepEqual(
        [...read.keys()],
        expectedTensors.map(([name]) => name),
      )
      for (const [name, tensor] of expectedTensors) {
        const found = read.get(name)!
        assert.deepEqual(found.shape, tensor.shape)
        assert.deepEqual(
          [...found.values()],
          expectedValues(drawn[tensor.storage]!.numbers, tensor),
        )
      }
    }),
    { numRuns: 200 },
  )
})

test('beyond 4 GiB only the requested tensors are read', () => {
  const gap = 5 * 2 ** 30
  const storages = [floats(2), { ...floats(3), count: gap / 4 + 3, gap }, floats(4)]
  writeStateDict(file, {
    storages,
    tensors: {
      far: plain(1, [3], gap / 4),
      behind: plain(2, [2, 2]),
      whole: plain(1, [gap / 4 + 3]),
    },
  })
  const before = process.memoryUsage().arrayBuffers
  assert.deepEqual(valuesOf('far'), [0, 1, 2])
  assert.deepEqual(valuesOf('behind'), [0, 1, 2, 3])
  const grown = process.memoryUsage().arrayBuffers - before
  assert.equal(grown < 2 ** 20, true, `${grown} bytes more`)
  assert.equal(openTorchCheckpoint(file).get('whole')!.bytes, gap + 12)
})

test('a tensor without numbers is empty at once, whatever its other sizes are', () => {
  const shape = [18, 15, 2_147_483_617, 0]
  const tensor = { storage: 0, offset: 0, shape, strides: [0, 1, 3, 20] }
  writeStateDict(file, { storages: [floats(256)], tensors: { a: tensor } })
  assert.deepEqual(valuesOf('a'), [])
})

const storages = [floats(4)]
const sound: StateDict = { storages, tensors: { a: plain(0, [2, 2]) } }

function writePickle(...parts: Buffer[]): void {
  writeZip(file, torchEntries(Buffer.concat([op.protocol(), ...parts]), storages))
}

function writeTensor(tensor: SavedTensor, saved: SavedStorage[] = storages): void {
  writeZip(file, torchEntries(dictionaryPickle({ a: tensorPickle(saved, tensor) }), saved))
}

test('a pickle that would run code is refused, naming the code', () => {
  const commandLine = [op.mark(), op.text('true'), op.tuple(), op.reduce(), op.stop()]
  writePickle(op.global('os', 'system'), ...commandLine)
  assert.throws(readAll, /checkpoint\.pt: global "os\.system" is refused/)
  writePickle(op.global('torch', 'load'), ...commandLine)
  assert.throws(readAll, /global "torch\.load" is refused/)
  writePickle(op.global('collections', '__proto__'), ...commandLine)
  assert.throws(readAll, /global "collections\.__proto__" is refused/)
  writePickle(op.global('torch', 'FloatStorage'), ...commandLine)
  assert.throws(readAll, /calls what is no function of ours/)
  writePickle(op.text('os.system'), ...commandLine)
  assert.throws(readAll, /calls what is no function of ours/)
  writePickle(op.global('collections', 'OrderedDict'), ...commandLine)
  assert.throws(readAll, /an OrderedDict is made from a list/)
})

test('an opcode that no checkpoint needs is refused, naming it', () => {
  for (const opcode of ['i', 'o', '\x81', '\x82', '\x93', 'P', '\x8c', '0', '2']) {
    writePickle(op.mark(), Buffer.from(opcode, 'latin1'), Buffer.alloc(20, 0x2e))
    const hexadecimal = opcode.charCodeAt(0).toString(16)
    assert.throws(readAll, new RegExp(`opcode 0x${hexadecimal} .* at byte 3 is refused`))
  }
  writeZip(file, torchEntries(Buffer.concat([op.protocol(4), op.emptyTuple(), op.stop()]), []))
  assert.throws(readAll, /the pickle has protocol 4, not 2/)
})

test('an inconsistent pickle is refused', () => {
  const cases: [Buffer[], RegExp][] = [
    [[op.setItem(), op.stop()], /takes more than there is/],
    [
      [op.emptyDictionary(), op.text('a'), op.mark(), op.text('b'), op.setItem()],
      /takes more than there is/,
    ],
    [[op.tuple()], /no beginning of a tuple/],
    [[op.get(7), op.stop()], /recalls 7/],
    [[op.text('a'), op.text('b'), op.text('c'), op.setItem()], /gives items to what is no dict/],
    [[op.emptyDictionary(), op.mark(), op.text('a'), op.setItems()], /a key without a value/],
    [[op.text('a'), op.text('b'), op.build()], /gives attributes to what is no dictionary/],
    [[op.text('a'), op.text('b'), op.append()], /appends to what is no list/],
    [[op.text('a'), op.appendAll()], /no beginning of a tuple/],
    [[op.emptyDictionary(), op.emptyDictionary(), op.stop()], /ends with values to spare/],
    [[op.emptyDictionary()], /cut short/],
    [[Buffer.from('cos')], /cut short in a name/],
    [[Buffer.from([0x58, 0xff, 0xff, 0xff, 0xff])], /cut short/],
    [[op.emptyTuple(), op.stop()], /is not a dictionary of tensors/],
    [
      [op.emptyDictionary(), op.integer(3), op.emptyTuple(), op.setItem(), op.stop()],
      /a tensor's name is not a text/,
    ],
    [[op.text('0'), op.persistentId(), op.stop()], /a persistent id is not that of a storage/],
  ]
  for (const [parts, message] of cases) {
    writePickle(...parts)
    assert.throws(readAll, message)
  }
  writeZip(file, torchEntries(dictionaryPickle({ epoch: op.integer(3) }), []))
  assert.throws(readAll, /checkpoint\.pt: tensor epoch: is not a tensor/)
})

test('lists and floats are read; a list may hold itself', () => {
  const list = [op.emptyList(), op.put(1), op.float(-0.1), op.append(), op.mark()]
  writePickle(...list, op.integer(7), op.get(1), op.appendAll(), op.stop())
  const value = readTorchFile(file) as unknown[]
  assert.deepEqual(value.slice(0, 2), [-0.1, 7])
  assert.equal(value[2], value)
})

test('a shape that grows after its tensor was checked changes nothing', () => {
  const grown = Buffer.concat([op.get(1), op.integer(2 ** 40), op.append()])
  const tensor = tensorPickle(storages, plain(0, [4])) // ends with sizes and strides as tuples
  const sizes = Buffer.concat([op.mark(), op.integer(4), op.tuple()])
  const at = tensor.indexOf(sizes)
  const list = Buffer.concat([op.emptyList(), op.put(1), op.integer(4), op.append()])
  const withList = Buffer.concat([tensor.subarray(0, at), list, tensor.subarray(at + sizes.length)])
  const dictionary = [op.emptyDictionary(), op.text('a'), withList, op.setItem()]
  writePickle(...dictionary, op.text('b'), grown, op.setItem(), op.stop())
  assert.deepEqual((readTorchFile(file) as Map<string, { shape: number[] }>).get('a')!.shape, [4])
})

test('a tensor that is not within its storage is refused', () => {
  const many = Array.from({ length: 65 }, () => 1)
  const outside: SavedTensor[] = [
    plain(0, [5]),
    plain(0, [2, 2], 1),
    plain(0, [2 ** 50, 2 ** 50]),
    plain(0, many),
    { storage: 0, offset: 0, shape: [2, 2], strides: [3, 1] },
    { storage: 0, offset: 0, shape: [2 ** 40], strides: [0] },
    { storage: 0, offset: 2 ** 40, shape: [1], strides: [1] },
  ]
  for (const tensor of outside) {
    writeTensor(tensor)
    assert.throws(readAll, /checkpoint\.pt: a tensor .* is not within the 4 of its storage/)
  }
  const unsized: SavedTensor[] = [
    { storage: 0, offset: -1, shape: [1], strides: [1] },
    { storage: 0, offset: 0, shape: [-1], strides: [1] },
    { storage: 0, offset: 3, shape: [2], strides: [-1] },
    { storage: 0, offset: 0, shape: [2], strides: [] },
  ]
  for (const tensor of unsized) {
    writeTensor(tensor)
    assert.throws(readAll, /a tensor is not made of a storage, an offset, sizes and strides/)
  }
})

test('a storage must exist, and have the right size and a supported type', () => {
  writeTensor(plain(0, [2]), [{ ...floats(4), count: 5 }])
  assert.throws(readAll, /tensor a: FloatStorage of 5 takes 20 bytes, not 16/)
  writeTensor(plain(0, [2]), [{ ...floats(4), count: 2 ** 50 }])
  assert.throws(readAll, /tensor a: FloatStorage of 1125899906842624 takes/)
  writeTensor(plain(0, [2]), [{ ...floats(4), type: 'LongStorage', count: 2 }])
  assert.deepEqual(openTorchCheckpoint(file).get('a')!.shape, [2])
  assert.throws(readAll, /checkpoint\.pt: tensor a: a LongStorage can't be read/)
  writeTensor(plain(0, [2]), [{ ...floats(4), type: 'QInt8Storage' }])
  assert.throws(readAll, /global "torch\.QInt8Storage" is refused/)
  writeZip(file, torchEntries(stateDictPickle(sound), []))
  assert.throws(readAll, /storage 0 is missing/)
})

/** Writes a checkpoint that is valid except for false claims about its entry `name`. */
function writeClaims(name: string, claims: Entry['claims'], saved = storages): void {
  const entries = torchEntries(stateDictPickle({ ...sound, storages: saved }), saved)
  writeZip(
    file,
    entries.map((entry) => (entry.name === name ? { ...entry, claims } : entry)),
  )
}

function writeWith(more: Entry): void {
  writeZip(file, [...torchEntries(stateDictPickle(sound), storages), more])
}

test("only an entry's own bytes are read", () => {
  writeZip(file, [
    { name: 'a', data: Buffer.from('abc') },
    { name: 'b', data: Buffer.from('def') },
  ])
  const entry = openZip(file).get('a')!
  assert.equal(Buffer.from(entry.read(1, 2)).toString(), 'bc')
  assert.throws(() => entry.read(1, 3), /entry a: bytes 1 to 4 are not within its 3/)
})

test('an archive that is not what torch writes is refused, naming the entry', () => {
  const cases: [Entry['claims'], RegExp][] = [
    [{ method: 8 }, /entry archive\/data\/0 is compressed \(method 8\)/],
    [{ flags: 1 }, /entry archive\/data\/0 is encrypted/],
    [{ storedBytes: 8 }, /entry archive\/data\/0 has 8 of 16 bytes/],
    [{ bytes: 1000 }, /entry archive\/data\/0 overlaps what follows it/],
    [{ bytes: 2 ** 45 }, /entry archive\/data\/0 overlaps what follows it/],
    [{ start: 0 }, /overlaps what follows it/],
    [{ start: 3 }, /overlaps what follows it/],
    [{ start: 2 ** 52 }, /overlaps what follows it/],
  ]
  for (const [claims, message] of cases) {
    writeClaims('archive/data/0', claims)
    assert.throws(readAll, message)
  }
  writeClaims('archive/data/0', { bytes: 20 }, [{ ...floats(4), count: 5 }])
  assert.throws(readAll, /entry archive\/data\/0 overlaps what follows it/)
  writeClaims('archive/data.pkl', { start: 1 })
  assert.throws(readAll, /entry archive\/data\.pkl is not at its place/)
  writeWith({ name: 'archive/data/0', data: new Uint8Array(16) })
  assert.throws(readAll, /two entries are called archive\/data\/0/)
  writeWith({ name: 'other/data.pkl', data: new Uint8Array(1) })
  assert.throws(readAll, /not a checkpoint of torch\.save \(it has 2 data\.pkl\)/)
  writeZip(file, [
    { name: 'archive/data.pkl', data: stateDictPickle({ storages: [], tensors: {} }) },
    { name: 'archive/byteorder', data: Buffer.from('big') },
  ])
  assert.throws(readAll, /byte order big is not little/)
  writeFileSync(file, 'neither a zip nor short enough to be nothing')
  assert.throws(readAll, /checkpoint\.pt: not a zip archive, or cut short/)
  writeFileSync(file, '')
  assert.throws(readAll, /not a zip archive, or cut short/)
})

/**
 * Made by Python's pickle, protocol 2: a dictionary with a path, a set, a timedelta, a namespace,
 * an object of a custom class that is a list, a defaultdict, and `steps`: [1, 2.5, 'x'].
 */
const OBJECTS =
  'gAJ9cQAoWAQAAABwYXRocQFjcGF0aGxpYgpQdXJlUG9zaXhQYXRoCnECWAEAAAAvcQNYBAAAAHJ1bnNxBFgBAA' +
  'AAMXEFh3EGUnEHWAQAAAB0YWdzcQhjX19idWlsdGluX18Kc2V0CnEJXXEKWAEAAAB4cQthhXEMUnENWAQAAAB3' +
  'aGVucQ5jZGF0ZXRpbWUKdGltZWRlbHRhCnEPSwFLAEsAh3EQUnERWAQAAABiZXN0cRJjdHlwZXMKU2ltcGxlTm' +
  'FtZXNwYWNlCnETKVJxFH1xFShYBQAAAHNjb3JlcRZHP+AAAAAAAABYBQAAAHN0ZXBzcRddcRhLAWF1YlgEAAAA' +
  'bGlzdHEZY3RyYWluZXIKQQpxGimBcRsoSwFLAmV9cRxYBAAAAG1vZGVxHVgDAAAAbWlucR5zYlgHAAAAY291bn' +
  'RlcnEfY2NvbGxlY3Rpb25zCmRlZmF1bHRkaWN0CnEgY19fYnVpbHRpbl9fCmxpc3QKcSGFcSJScSNYAQAAAGtx' +
  'JF1xJUsBYXNoF11xJihLAUdABAAAAAAAAGgLZXUu'

test('objects that nothing is read from are refused, or made inert on request', () => {
  writeZip(file, torchEntries(Buffer.from(OBJECTS, 'base64'), []))
  assert.throws(() => readTorchFile(file), /global "pathlib\.PurePosixPath" is refused/)
  const read = readTorchFile(file, { othersAreInert: true })
  assert.ok(read instanceof Map)
  const { steps, ...objects } = Object.fromEntries(read)
  assert.deepEqual(steps, [1, 2.5, 'x'])
  for (const name of ['path', 'tags', 'when', 'best', 'list', 'counter']) {
    assert.equal(objects[name], INERT, name)
  }
})

test('an inert object is not a tensor', () => {
  const pickle = Buffer.concat([
    op.protocol(),
    dictionaryPickle({
      weight: Buffer.concat([op.global('a', 'B'), op.emptyTuple(), op.reduce()]),
    }),
    op.stop(),
  ])
  writeZip(file, torchEntries(pickle, []))
  const read = readTorchFile(file, { othersAreInert: true })
  assert.throws(() => stateDictOf(file, read), /tensor weight: is not a tensor/)
})
