/** Mutations of a file's bytes, as fast-check arbitraries: fast-check seeds, replays and shrinks them. */

import { fc } from '../support/basics/property.ts'

/** Offsets and lengths are shares of the file, so that a mutation fits any file. */
export type Mutation =
  | { kind: 'flip'; at: number; bit: number }
  | { kind: 'set'; at: number; value: number; width: 1 | 2 | 4 | 8; isBigEndian: boolean }
  | { kind: 'cut'; at: number }
  | { kind: 'remove'; at: number; length: number }
  | { kind: 'repeat'; at: number; length: number }
  | { kind: 'move'; at: number; length: number; to: number }
  | { kind: 'insert'; at: number; bytes: Uint8Array }

/** Numbers at which sizes, counts and times overflow. */
const EDGES = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
]

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
/** Favors the start and the end of a file, where headers and indexes are. */
const place = fc.oneof(
  { weight: 2, arbitrary: share },
  { weight: 2, arbitrary: share.map((at) => at ** 4) },
  { weight: 1, arbitrary: share.map((at) => 1 - at ** 4 / 2) },
)

export const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant('flip'), at: place, bit: fc.nat(7) }),
  fc.record({
    kind: fc.constant('set'),
    at: place,
    value: fc.oneof(fc.constantFrom(...EDGES), fc.nat(0xffffffff)),
    width: fc.constantFrom(1, 2, 4, 8),
    isBigEndian: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('cut'), at: share }),
  fc.record({
    kind: fc.constantFrom('remove', 'repeat'),
    at: place,
    length: share.map((x) => x ** 3),
  }),
  fc.record({ kind: fc.constant('move'), at: place, length: share.map((x) => x ** 3), to: place }),
  fc.record({
    kind: fc.constant('insert'),
    at: place,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
  }),
) as fc.Arbitrary<Mutation>

/** Applies the mutations in turn; cuts the result at four times the length of the file. */
export function mutate(file: Buffer, mutations: readonly Mutation[]): Buffer {
  const bytesMax = 4 * file.length
  return mutations.reduce((bytes, each) => {
    if (bytes.length === 0) return bytes
    return apply(bytes, each).subarray(0, bytesMax)
  }, file)
}

function apply(bytes: Buffer, mutation: Mutation): Buffer {
  const at = Math.floor(mutation.at * bytes.length)
  if (mutation.kind === 'cut') return bytes.subarray(0, at)
  if (mutation.kind === 'insert') {
    return Buffer.concat([bytes.subarray(0, at), mutation.bytes, bytes.subarray(at)])
  }
  if (mutation.kind === 'flip' || mutation.kind === 'set') {
    const changed = Buffer.from(bytes)
    if (mutation.kind === 'flip') changed[at]! ^= 1 << mutation.bit
    else setNumber(changed, at, mutation)
    return changed
  }
  const end = at + Math.ceil(mutation.length * (bytes.length - at))
  const part = bytes.subarray(at, end)
  if (mutation.kind === 'repeat') {
    return Buffer.concat([bytes.subarray(0, end), part, bytes.subarray(end)])
  }
  const rest = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
  if (mutation.kind !== 'move') return rest
  const to = Math.floor(mutation.to * rest.length)
  return Buffer.concat([rest.subarray(0, to), part, rest.subarray(to)])
}

type SetNumber = Extract<Mutation, { kind: 'set' }>

function setNumber(bytes: Buffer, at: number, { value, width, isBigEndian }: SetNumber): void {
  const number = Buffer.alloc(8)
  if (isBigEndian) number.writeBigUInt64BE(BigInt(value))
  else number.writeBigUInt64LE(BigInt(value))
  const part = isBigEndian ? number.subarray(8 - width) : number.subarray(0, width)
  part.copy(bytes, at)
}
