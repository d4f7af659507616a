import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import { readSeparate } from '../../../../gateway/grpc/separate-stream.ts'
import type { ServiceError } from '../../../../shared/errors.ts'

const { signal } = new AbortController()
const OPTIONS = { submit: { input: null }, file: { name: 'a.wav', content_type: 'audio/wav' } }

/** Returns the size of a file that arrives in this many pieces of one byte. */
async function bytesOf(pieces: number): Promise<number> {
  const messages = function* () {
    yield { options: OPTIONS }
    for (let i = 0; i < pieces; i += 1) yield { piece: Buffer.from('x') }
  }
  const { file } = await readSeparate(Readable.from(messages()), { secondsMax: 60, signal })
  let bytes = 0
  for await (const piece of file!.body) bytes += (piece as Buffer).length
  return bytes
}

test('a call has 100,000 messages at most', async () => {
  assert.equal(await bytesOf(99_999), 99_999)
  await assert.rejects(bytesOf(100_000), ({ code }: ServiceError) => code === 'PAYLOAD_TOO_LARGE')
})

test('unread data holds back the sender', async () => {
  let sent = 0
  const messages = function* () {
    yield { options: OPTIONS }
    for (; sent < 1_000; sent += 1) yield { piece: Buffer.alloc(65_536) }
  }
  const { file } = await readSeparate(Readable.from(messages()), { secondsMax: 60, signal })
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(sent < 100, `${sent} pieces were taken`)
  file!.body.destroy()
})
