import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeMessage, encodeMessage, Event, Job } from '../../../shared/messages.ts'
import { DEFAULT_OPTIONS } from '../../../shared/separation-options.ts'

const job: Job = {
  request_id: 'req_1', account_id: 'acc_1', created_at: '2026-01-01T00:00:00.000Z', prompt: 'a dog 🐕',
  options: DEFAULT_OPTIONS,
  source: { kind: 'file', url: 'http://127.0.0.1/x', file_name: 'dog.wav' },
  upload_urls: {
    target: 'http://127.0.0.1/t', residual: 'http://127.0.0.1/r',
    target_video: 'http://127.0.0.1/tv', residual_video: 'http://127.0.0.1/rv',
  },
}

test('a message arrives as it was sent', () => {
  assert.deepEqual(decodeMessage(Job, encodeMessage(job)), job)
})

test('a message that is not understood names what is wrong', () => {
  const bad = { ...job, options: { ...DEFAULT_OPTIONS, acceleration: 'warp' } }
  const data = new TextEncoder().encode(JSON.stringify(bad))
  assert.throws(() => decodeMessage(Job, data), /message not understood: \/options\/acceleration/)
  assert.throws(() => decodeMessage(Event, encodeMessage(job)), /message not understood/)
  assert.throws(() => decodeMessage(Job, new TextEncoder().encode('not json')), SyntaxError)
})
