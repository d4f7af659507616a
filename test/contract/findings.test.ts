/** An engine's findings about a prompt and its outputs: `match`, `understood_as` and `gain_db`. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { QueueResultResponse } from '../../gateway/api/result-schemas.ts'
import { QueueStatusResponse } from '../../gateway/api/schemas.ts'
import type { Finding } from '../../shared/finding.ts'
import { languageNames } from '../../shared/prompts/read-prompt.ts'
import { assertShape } from '../support/gateway/assert-shape.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import {
  API,
  outputsOf,
  startGateway,
  submitted,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

/** Completes a request whose engine reported these findings, one per prompt. */
async function completeWith(
  gateway: Gateway,
  input: object,
  findings: readonly Finding[],
  more: object = {},
  gainDb?: number,
) {
  const requestId = await submitted(gateway, input, more)
  const { gain_db: _, ...files } = outputsOf(gateway.broker.jobOf(requestId))
  const outputs = { ...files, ...(gainDb !== undefined && { gain_db: gainDb }) }
  const targets = ['target', 'target_2'] as const
  for (const [i, finding] of findings.entries()) {
    outputs[targets[i]!] = { ...outputs[targets[i]!]!, ...finding }
  }
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId, { outputs })
  const of = async (what: string) =>
    (await gateway.call('GET', `${API}/requests/${requestId}/${what}`)).json()
  const [status, result] = [await of('status'), await of('result')]
  assertShape(QueueStatusResponse, status)
  assertShape(QueueResultResponse, result)
  return { requestId, status, data: result.data }
}

const UNKNOWN = { match: 0.3, understood_as: null }

test('status and result have the match and the name, which is null if none is close', async (t) => {
  const gateway = await startGateway(t)
  for (const finding of [{ match: 0.93, understood_as: 'dog' }, UNKNOWN]) {
    const { status, data } = await completeWith(gateway, {}, [finding])
    for (const { match, understood_as } of [status, data]) {
      assert.deepEqual({ match, understood_as }, finding)
    }
    assert.equal('targets' in status || 'targets' in data, false)
    assert.equal('match' in data.target, false, 'an output file is as it was')
  }
})

test("each of several prompts has a match; the first one's stands for the request", async (t) => {
  const gateway = await startGateway(t)
  const findings = [{ match: 0.93, understood_as: 'dog' }, UNKNOWN]
  const prompts = ['dog', 'washing machine']
  const { status, data } = await completeWith(gateway, { prompts }, findings)
  assert.deepEqual(
    status.targets,
    findings.map((finding, i) => ({ prompt: prompts[i], ...finding })),
  )
  assert.equal(status.match, 0.93)
  assert.equal(data.understood_as, 'dog')
  assert.deepEqual(
    data.targets.map(({ match, understood_as }: Finding) => ({ match, understood_as })),
    findings,
  )
  assert.match(data.targets[1].url, /target_2/)
})

test('a model that reports neither, and a request before its end, has no findings', async (t) => {
  const gateway = await startGateway(t)
  const { status, data } = await completeWith(gateway, { prompts: ['dog', 'cat'] }, [])
  for (const answer of [status, data, data.targets[0]]) {
    assert.equal('match' in answer || 'understood_as' in answer, false)
  }
  assert.equal('targets' in status, false)
  const requestId = await submitted(gateway)
  const waiting = await gateway.call('GET', `${API}/requests/${requestId}/status`)
  assert.equal('match' in waiting.json(), false)
})

const LOST: Finding = {
  understood_as: null,
  state: 'unknown',
  softened_db: 0,
  holds: 'everything but speech',
  nearest: ['vacuum cleaner', 'water'],
}
const FAINT: Finding = { match: 0.16, understood_as: 'piano', state: 'unsure', softened_db: 5.2 }
const CLEAR: Finding = { match: 0.97, understood_as: 'speech', state: 'found' }
const PROMPTS = ['a person speaking', 'Piano']
const MESSAGES = [
  '"a person speaking", taken for "speech", was found (match 97 %).',
  '"Piano" may be absent (match 16 %): its target is up to 5.2 dB softer.',
]
const LOST_MESSAGE =
  'The model does not know "kettle": its target holds everything but speech instead. ' +
  'The nearest names to try: "vacuum cleaner", "water". ' +
  `Prompts are read in ${languageNames()
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1')}.`

test('each prompt has a finding: found, or unsure and by how much the target was softened', async (t) => {
  const gateway = await startGateway(t)
  const { status, data } = await completeWith(gateway, { prompts: PROMPTS }, [CLEAR, FAINT])
  const expected = [CLEAR, FAINT].map((finding, i) => ({
    prompt: PROMPTS[i],
    ...finding,
    message: MESSAGES[i],
  }))
  assert.deepEqual(status.findings, expected)
  assert.deepEqual(data.findings, expected)
  assert.equal('state' in data.targets[0] || 'state' in status, false, 'the others as they were')
})

test('findings say where a sound was heard, what was heard instead, or that it was not; over gRPC too', async (t) => {
  const gateway = await startGateway(t)
  const where = [{ start: 0.5, end: 2 }]
  const findings: Finding[] = [
    { ...CLEAR, where, share: 0.25, quality: 'fair' },
    { match: 0.2, understood_as: 'violin', state: 'similar', softened_db: 0, similar_to: 'cello' },
  ]
  const { requestId, data } = await completeWith(gateway, { prompts: PROMPTS }, findings)
  assert.deepEqual([data.findings[0].where, data.findings[0].share], [where, 0.25])
  assert.equal(data.findings[0].quality, 'fair')
  const { call } = await startSeparationClient(t, gateway)
  const [first, second] = (await call('Get', { request_id: requestId })).findings
  assert.deepEqual([first.where, first.share, second.similar_to], [where, 0.25, 'cello'])
  assert.equal(first.quality, 'fair')
  assert.equal(
    second.message,
    'There is a sound like a violin: a cello. The file holds what comes nearest.',
  )
  const absent: Finding = { match: 0.01, understood_as: 'dog', state: 'absent', softened_db: 28 }
  const { data: without } = await completeWith(gateway, { prompt: 'dog' }, [absent])
  assert.equal(
    without.findings[0].message,
    'No dog was heard. The file holds what comes nearest, up to 28 dB softer.',
  )
})

test('for an unknown prompt the findings say what its file holds, and the file is named after it', async (t) => {
  const gateway = await startGateway(t)
  const { status, data } = await completeWith(gateway, { prompt: 'kettle' }, [LOST])
  const expected = [{ prompt: 'kettle', ...LOST, message: LOST_MESSAGE }]
  assert.deepEqual([status.findings, data.findings], [expected, expected])
  assert.match(data.target.file_name, /\.everything-but-speech-not-kettle\.wav$/)
  assert.match(data.residual.file_name, /\.rest\.without-kettle\.wav$/)
})

test('for a prompt that is not a name the findings and file names say how it was read; over gRPC too', async (t) => {
  const gateway = await startGateway(t)
  const sounds = [{ sound: 'drums', excluded: true, state: 'found' as const }]
  const finding = { ...CLEAR, understood_as: 'drums', asked: sounds }
  const { requestId, data } = await completeWith(gateway, { prompt: 'no drums' }, [finding])
  const message = 'Everything but the drums; the drums were found (match 97 %).'
  assert.deepEqual(data.findings, [{ prompt: 'no drums', ...finding, message }])
  assert.match(data.target.file_name, /\.without-drums\.wav$/)
  assert.match(data.residual.file_name, /\.rest\.drums\.wav$/)
  const { call } = await startSeparationClient(t, gateway)
  const { findings } = await call('Get', { request_id: requestId })
  assert.deepEqual(findings[0].asked, sounds)
  const earlier = await completeWith(gateway, { prompt: 'no drums' }, [CLEAR])
  assert.match(earlier.data.target.file_name, /\.no-drums\.wav$/, 'an engine of 0.4.0 gave them')
})

test('over gRPC the findings have the same names', async (t) => {
  const gateway = await startGateway(t)
  const { requestId } = await completeWith(gateway, { prompt: 'kettle' }, [LOST])
  const { call } = await startSeparationClient(t, gateway)
  const { findings, result } = await call('Get', { request_id: requestId })
  const expected = {
    prompt: 'kettle',
    ...LOST,
    understood_as: '',
    message: LOST_MESSAGE,
    ...{ asked: [], where: [] },
  }
  assert.deepEqual(findings, [expected])
  assert.deepEqual(result.findings, [expected])
})

test('the result has the gain of the outputs, over gRPC too, unless the engine is an older version', async (t) => {
  const gateway = await startGateway(t)
  const { requestId, data } = await completeWith(gateway, {}, [], {}, -6.02)
  assert.equal(data.gain_db, -6.02)
  const { call } = await startSeparationClient(t, gateway)
  assert.equal((await call('Get', { request_id: requestId })).result.gain_db, -6.02)
  assert.equal('gain_db' in (await completeWith(gateway, {}, [])).data, false)
})

test('status, result, webhook and gRPC name the model of each target', async (t) => {
  const gateway = await startGateway(t)
  const prompts = ['vocals', 'a person speaking']
  const found = [{ model: 'htdemucs' }, { model: 'mini', ...CLEAR }]
  const webhook = { webhookUrl: 'https://hooks.example.com/x' }
  const { requestId, status, data } = await completeWith(gateway, { prompts }, found, webhook)
  const [delivery] = await gateway.store.selectFrom('deliveries').select('body').execute()
  const { call } = await startSeparationClient(t, gateway)
  const message = await call('Get', { request_id: requestId })
  for (const each of [status, data, JSON.parse(delivery!.body).data, message, message.result]) {
    const { separator, targets, findings } = each
    assert.equal(separator, 'htdemucs')
    assert.deepEqual(
      targets.map((target: { separator: string }) => target.separator),
      ['htdemucs', 'mini'],
    )
    assert.deepEqual(
      findings.map((finding: { separator: string }) => finding.separator),
      ['mini'],
    )
    assert.equal('model' in findings[0], false)
  }
})
