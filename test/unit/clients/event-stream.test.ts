import assert from 'node:assert/strict'
import test from 'node:test'
import { readEvents } from '../../../clients/typescript/event-stream.ts'

test('events are the same however their bytes are cut', async () => {
  const text =
    ': hello\n\nevent: status\ndata: {"a":"é"}\n\nevent: x\r\ndata:1\r\ndata: 2\r\n\r\ndata: 3\n\nrest'
  const bytes = Buffer.from(text)
  const expected = [
    { name: 'status', data: '{"a":"é"}' },
    { name: 'x', data: '1\n2' },
    { name: 'message', data: '3' },
  ]
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    )
    const events = []
    for await (const event of readEvents(pieces)) events.push(event)
    assert.deepEqual(events, expected, `pieces of ${size}`)
  }
})
