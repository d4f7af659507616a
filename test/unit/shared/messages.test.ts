import assert from 'node:assert/strict'
import test from 'node:test'
import {
  decodeMessage,
  encodeMessage,
  Event,
  identify,
  Job,
  LOG_LINES_MAX,
  shortText,
} from '../../../shared/messages.ts'
import { DEFAULT_OPTIONS } from '../../../shared/separation-options.ts'

const job: Job = {
  request_id: 'req_1',
  account_id: 'acc_1',
  created_at: '2026-01-01T00:00:00.000Z',
  prompt: 'a dog 🐕',
  options: DEFAULT_OPTIONS,
  source: { kind: 'file', url: 'http://127.0.0.1/x', file_name: 'dog.wav' },
  upload_urls: {
    target: 'http://127.0.0.1/t',
    residual: 'http://127.0.0.1/r',
    target_video: 'http://127.0.0.1/tv',
    residual_video: 'http://127.0.0.1/rv',
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

test('an event has a limited number of log lines, each of limited length', () => {
  const event = (logs: Event['logs']): Event => ({
    type: 'started',
    request_id: 'r',
    attempt_id: 'a',
    engine_id: 'e',
    at: '',
    logs,
  })
  const decode = (logs: Event['logs']) => decodeMessage(Event, encodeMessage(event(logs)))
  const lines = (count: number, message = 'x') =>
    Array.from({ length: count }, () => ({ timestamp: '', message }))
  assert.equal(decode(lines(LOG_LINES_MAX)).logs.length, LOG_LINES_MAX)
  assert.throws(() => decode(lines(LOG_LINES_MAX + 1)), /not understood/)
  assert.throws(() => decode(lines(1, 'x'.repeat(2_001))), /not understood/)
  for (const text of ['x'.repeat(5_000), '🐕'.repeat(5_000), 'x'.repeat(2_000)]) {
    assert.equal([...decode(lines(1, shortText(text))).logs[0]!.message].length, 2_000)
  }
  assert.equal(shortText('🐕'), '🐕')
})

test('whose a message is can be read of one that is not understood', () => {
  assert.deepEqual(identify(encodeMessage(job)), { request_id: 'req_1' })
  const text = '{"request_id":"r","attempt_id":"a","type":"later","prompt":1}'
  assert.deepEqual(identify(new TextEncoder().encode(text)), {
    request_id: 'r',
    attempt_id: 'a',
    type: 'later',
  })
  for (const bad of ['', '1', 'null', '{"request_id":1}']) {
    assert.deepEqual(identify(new TextEncoder().encode(bad)), {})
  }
})
