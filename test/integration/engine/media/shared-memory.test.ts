import assert from 'node:assert/strict'
import { ftruncateSync, writevSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import { SharedMemory } from '../../../../engine/media/process/shared-memory.ts'

test('the planes that were written come back', () => {
  const memory = new SharedMemory()
  const written = [Float32Array.of(0.5, -1, 2), Float32Array.of(1, 0, -0.25)]
  writevSync(memory.descriptor, written, 0)
  assert.deepEqual(memory.read(2, 3), written)
  memory.close()
})

test('the largest block fits, and the memory can be neither enlarged nor shrunk', () => {
  const memory = new SharedMemory()
  const bytes = 64 * 65_536 * 4
  assert.equal(memory.read(64, 65_536).length, 64)
  assert.throws(() => writeSync(memory.descriptor, 'x', bytes), { code: 'EPERM' })
  for (const size of [0, bytes + 1]) {
    assert.throws(() => ftruncateSync(memory.descriptor, size), { code: 'EPERM' })
  }
  memory.close()
})

test('a block that does not fit takes no memory, and writing after the end is an error, too', () => {
  const memory = new SharedMemory()
  for (const samples of [2 ** 22 + 1, 1e15, -1, NaN]) {
    assert.throws(() => memory.read(1, samples), /does not fit the shared memory/)
  }
  memory.close()
  memory.close()
  assert.throws(() => memory.read(1, 1), /was closed/)
})
