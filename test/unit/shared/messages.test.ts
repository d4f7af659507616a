import assert from 'node:assert/strict'
import test from 'node:test'
import {
  decodeEvent,
  decodeMessage,
  encodeMessage,
  Event,
  identify,
  Job,
  LOG_LINES_MAX,
} from '../../../shared/messages.ts'
import { shortText } from '../../../shared/short-text.ts'
import { HEARD_SOUNDS_MAX, HEARD_SPANS_MAX } from '../../../shared/heard-sounds.ts'
import { fc } from '../../support/basics/property.ts'
import { DEFAULT_OPTIONS } from '../../../shared/separation-options.ts'

const AT = '2026-01-01T00:00:00.000Z'

const job: Job = {
  request_id: 'req_1',
  account_id: 'acc_1',
  created_at: AT,
  prompt: 'a dog 🐕',
  options: DEFAULT_OPTIONS,
  interruptions: 0,
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

test('the error for an invalid message names what is wrong', () => {
  const bad = { ...job, options: { ...DEFAULT_OPTIONS, acceleration: 'warp' } }
  const data = new TextEncoder().encode(JSON.stringify(bad))
  assert.throws(() => decodeMessage(Job, data), /invalid message: \/options\/acceleration/)
  assert.throws(() => decodeMessage(Event, encodeMessage(job)), /invalid message/)
  assert.throws(() => decodeMessage(Job, new TextEncoder().encode('not json')), SyntaxError)
})

test('the ids of an invalid message can still be read', () => {
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

const FILE = { content_type: 'audio/wav', extension: 'wav', bytes: 4, place: 'attempt-1' }
const completed = () => ({
  type: 'completed',
  request_id: 'req_1',
  attempt_id: 'attempt-1',
  engine_id: 'gpu-host.example:0',
  at: AT,
  started_at: AT,
  logs: [{ timestamp: AT, message: 'line' }],
  duration: 12.5,
  sample_rate: 48_000,
  outputs: {
    target: {
      ...FILE,
      match: 0.5,
      video: { ...FILE, content_type: 'video/mp4', extension: 'mp4' },
    },
    residual: FILE,
    peaks: { ...FILE, content_type: 'application/json', extension: 'json' },
    preview: { ...FILE, content_type: 'audio/ogg', extension: 'ogg' },
    gain_db: -1,
  },
})

/** Returns a copy of `event` with `value` at `path`. */
function withValue(event: object, path: readonly string[], value: unknown): object {
  const copy = structuredClone(event)
  const holder = path.slice(0, -1).reduce<any>((part, key) => part[key], copy)
  holder[path.at(-1)!] = value
  return copy
}

const read = (event: object) => decodeEvent(new TextEncoder().encode(JSON.stringify(event)))

const HOSTILE = ['', '.', '../../../x"\r\n', 'a/b', 'wav\n', '\0', 'x"', 'ü', '%_', 'x'.repeat(200)]
const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'grapheme' }).filter((text) => /[^a-z0-9]/.test(text)),
)
const hostileNumber = fc.oneof(
  fc.constantFrom(-1, -0.5, 1e300, 2 ** 53, Number.MIN_SAFE_INTEGER),
  fc.double({ max: -1e-9, noNaN: true, noDefaultInfinity: true }),
)
const otherKind = fc.constantFrom(null, true, [], {}, '1')
const TEXTS = [
  ['request_id'],
  ['attempt_id'],
  ['engine_id'],
  ['at'],
  ['started_at'],
  ['logs', '0', 'timestamp'],
  ...['target', 'residual', 'peaks', 'preview'].flatMap((name) =>
    ['content_type', 'extension', 'place'].map((field) => ['outputs', name, field]),
  ),
  ['outputs', 'target', 'video', 'content_type'],
  ['outputs', 'target', 'video', 'extension'],
]
const NUMBERS = [
  ['duration'],
  ['device_seconds'],
  ['sample_rate'],
  ['outputs', 'target', 'bytes'],
  ['outputs', 'residual', 'bytes'],
  ['outputs', 'peaks', 'bytes'],
  ['outputs', 'target', 'match'],
]

/** Tells whether `text` happens to be a valid id or place, and so is not hostile at `path`. */
const isGood = (path: readonly string[], text: unknown) => {
  const name = path.at(-1)!
  const good = name === 'engine_id' ? /^[\w.:@-]{1,128}$/ : /^[\w-]{1,64}$/
  return (name.endsWith('_id') || name === 'place') && good.test(String(text))
}

test('property: an event with a hostile text or number anywhere is refused, naming the place', () => {
  assert.deepEqual(read(completed()), completed())
  const text = fc.tuple(
    fc.constantFrom(...TEXTS),
    fc.oneof(
      hostileText,
      otherKind.filter((v) => v !== '1'),
    ),
  )
  const number = fc.tuple(fc.constantFrom(...NUMBERS), fc.oneof(hostileNumber, otherKind))
  fc.assert(
    fc.property(fc.oneof(text, number), ([path, value]) => {
      fc.pre(!isGood(path, value))
      assert.throws(
        () => read(withValue(completed(), path, value)),
        RegExp(`invalid message: /${path.join('/')} `),
      )
    }),
    { numRuns: 500 },
  )
})

test('an event has a valid time', () => {
  for (const at of [
    '',
    'yesterday',
    '2026-02-31T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-01-01T00:00:00Z',
  ]) {
    assert.throws(() => read({ ...completed(), at }), /invalid message: \/at must/, at)
  }
})

test('unknown fields of an event are not stored', () => {
  const { outputs, ...rest } = completed()
  const more = { ...outputs, evil: { bytes: 'x' }, target: { ...outputs.target, html: '<b>' } }
  assert.deepEqual(read({ ...rest, outputs: more }), completed())
})

test('an event has a limited number of log lines, each of limited length', () => {
  const decode = (count: number, message = 'x') =>
    read({ ...completed(), logs: Array(count).fill({ timestamp: AT, message }) }).logs
  assert.equal(decode(LOG_LINES_MAX).length, LOG_LINES_MAX)
  assert.throws(() => decode(LOG_LINES_MAX + 1), /invalid message/)
  assert.throws(() => decode(1, 'x'.repeat(2_001)), /invalid message/)
  for (const text of ['x'.repeat(5_000), '🐕'.repeat(5_000), 'x'.repeat(2_000)]) {
    assert.equal([...decode(1, shortText(text))[0]!.message].length, 2_000)
  }
  assert.equal(shortText('🐕'), '🐕')
  assert.equal(shortText('a\0b'), 'a�b', 'a database takes no NUL')
})

test('a list of sounds has a limited length and no unknown fields', () => {
  const sound = { name: 'a dog', spans: [{ start: 0, end: 1.5 }], share: 0.5, match: 0.9 }
  const decode = (sounds?: unknown) => {
    const decoded = read({ ...completed(), ...(sounds !== undefined && { sounds }) })
    return decoded.type === 'completed' ? decoded.sounds : assert.fail()
  }
  assert.deepEqual(decode([{ ...sound, colour: 'red' }]), [sound])
  assert.equal(decode(), undefined, 'of an earlier version')
  assert.equal(decode(Array(HEARD_SOUNDS_MAX).fill(sound))?.length, HEARD_SOUNDS_MAX)
  assert.throws(() => decode(Array(HEARD_SOUNDS_MAX + 1).fill(sound)), /sounds/)
  const spans = Array(HEARD_SPANS_MAX + 1).fill(sound.spans[0])
  assert.throws(() => decode([{ ...sound, spans }]), /spans/)
  assert.throws(() => decode([{ ...sound, match: 1.1 }]), /match/)
})
