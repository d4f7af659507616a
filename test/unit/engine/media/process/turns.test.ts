import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as settled } from 'node:timers/promises'
import { Turns } from '../../../../../engine/media/process/turns.ts'

test('a limited number run at once; the others wait in order, and an aborted one leaves the queue', async () => {
  const turns = new Turns(2)
  const running = new Map<string, () => void>()
  const start = (name: string, signal = new AbortController().signal) =>
    turns.take(signal, () => new Promise<void>((resolve) => running.set(name, resolve)))
  const end = async (name: string) => {
    running.get(name)!()
    running.delete(name)
    await settled()
  }
  const stop = new AbortController()
  const [a, b] = [start('a'), start('b')]
  const aborted = start('c', stop.signal)
  const d = start('d')
  assert.deepEqual([...running.keys()], ['a', 'b'])
  stop.abort(new Error('enough'))
  await assert.rejects(aborted, /enough/)
  await end('b')
  assert.deepEqual([...running.keys()], ['a', 'd'])
  await end('a')
  await end('d')
  await Promise.all([a, b, d])
  await assert.rejects(
    turns.take(new AbortController().signal, () => Promise.reject(new Error('x'))),
  )
  const again = [start('e'), start('f'), start('g')]
  await settled()
  assert.deepEqual([...running.keys()], ['e', 'f'], 'work that fails frees its turn')
  for (const name of ['e', 'f', 'g']) await end(name)
  await Promise.all(again)
})
