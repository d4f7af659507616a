import assert from 'node:assert/strict'
import { ftruncateSync, writevSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import { SharedMemory } from '../../../../engine/media/shared-memory.ts'

test('what is written comes back, as many planes as were written', () => {
  const memory = new SharedMemory()
  const written = [Float32Array.of(0.5, -1, 2), Float32Array.of(1, 0, -0.25)]
  writevSync(memory.descriptor, written, 0)
  const read = [new Float32Array(3), new Float32Array(3)]
  memory.read(read)
  assert.deepEqual(read, written)
  memory.close()
})

test('the largest block fits, and who has the memory can neither enlarge nor cut it', () => {
  const memory = new SharedMemory()
  const bytes = 64 * 65_536 * 4
  memory.read(Array.from({ length: 64 }, () => new Float32Array(65_536)))
  assert.throws(() => writeSync(memory.descriptor, 'x', bytes), { code: 'EPERM' })
  for (const size of [0, bytes + 1]) {
    assert.throws(() => ftruncateSync(memory.descriptor, size), { code: 'EPERM' })
  }
  memory.close()
})

test('a block that it cannot hold, and one after its end, are errors', () => {
  const memory = new SharedMemory()
  assert.throws(() => memory.read([new Float32Array(2 ** 22 + 1)]), /larger than the shared/)
  memory.close()
  memory.close()
  assert.throws(() => memory.read([new Float32Array(1)]), /was closed/)
})
