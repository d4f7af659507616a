/** An engine's findings about a prompt and its outputs: `match`, `understood_as` and `gain_db`. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { QueueResultResponse } from '../../gateway/api/result-schemas.ts'
import { QueueStatusResponse } from '../../gateway/api/schemas.ts'
import type { Finding } from '../../shared/finding.ts'
import { languageNames } from '../../shared/prompts/read-prompt.ts'
import { assertShape } from '../support/gateway/assert-shape.ts'
import { startSeparationClient } from '../support/clients/separation-client.ts'
import { type Gateway, outputsOf, startGateway } from '../support/gateway/start-gateway.ts'

/** Completes a request whose engine reported these findings, one per prompt. */
async function completeWith(
  gateway: Gateway,
  input: object,
  findings: readonly Finding[],
  more: object = {},
  gainDb?: number,
) {
  const requestId = await gateway.submitted(input, more)
  const { gain_db: _, ...files } = outputsOf(gateway.broker.jobOf(requestId))
  const outputs = { ...files, ...(gainDb !== undefined && { gain_db: gainDb }) }
  const targets = ['target', 'target_2'] as const
  for (const [i, finding] of findings.entries()) {
    outputs[targets[i]!] = { ...outputs[targets[i]!]!, ...finding }
  }
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId, { outputs })
  const status = await gateway.statusOf(requestId)
  const result = (await gateway.getResult(requestId)).json()
  assertShape(QueueStatusResponse, status)
  assertShape(QueueResultResponse, result)
  return { requestId, status, data: result.data }
}

async function getOverGrpc(t: TestContext, gateway: Gateway, requestId: string) {
  const { call } = await startSeparationClient(t, gateway)
  return call('Get', { request_id: requestId })
}

const UNKNOWN = { match: 0.3, understood_as: null }

test('status and result have the match and the name of each prompt; null if none is close', async (t) => {
  const gateway = await startGateway(t)
  const known = { match: 0.93, understood_as: 'dog' }
  for (const finding of [known, UNKNOWN]) {
    const { status, data } = await completeWith(gateway, {}, [finding])
    for (const { match, understood_as } of [status, data]) {
      assert.deepEqual({ match, understood_as }, finding)
    }
    assert.equal('targets' in status || 'targets' in data, false)
    assert.equal('match' in data.target, false, 'an output file is as it was')
  }
  const prompts = ['dog', 'washing machine']
  const { status, data } = await completeWith(gateway, { prompts }, [known, UNKNOWN])
  const targets = [known, UNKNOWN].map((finding, i) => ({ prompt: prompts[i], ...finding }))
  assert.deepEqual(status.targets, targets)
  assert.deepEqual([status.match, data.understood_as], [0.93, 'dog'], "the first one's")
  assert.deepEqual(
    data.targets.map(({ prompt, match, understood_as }: any) => ({ prompt, match, understood_as })),
    targets,
  )
  assert.match(data.targets[1].url, /target_2/)
})

test('a model that reports neither, and a request before its end, has no findings', async (t) => {
  const gateway = await startGateway(t)
  const { status, data } = await completeWith(gateway, { prompts: ['dog', 'cat'] }, [])
  for (const answer of [status, data, data.targets[0]]) {
    assert.equal('match' in answer || 'understood_as' in answer || 'gain_db' in answer, false)
  }
  assert.equal('targets' in status, false)
  const waiting = await gateway.statusOf(await gateway.submitted())
  assert.equal('match' in waiting, false)
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

test('findings say where a sound was heard, what was heard instead, or that it was not', async (t) => {
  const gateway = await startGateway(t)
  const findings: Finding[] = [
    { ...CLEAR, where: [{ start: 0.5, end: 2 }], share: 0.25, quality: 'fair' },
    { match: 0.2, understood_as: 'violin', state: 'similar', softened_db: 0, similar_to: 'cello' },
  ]
  const { requestId, data } = await completeWith(gateway, { prompts: PROMPTS }, findings)
  const separation = await getOverGrpc(t, gateway, requestId)
  for (const [first, second] of [data.findings, separation.findings]) {
    const { where, share, quality } = first
    assert.deepEqual({ ...CLEAR, where, share, quality }, findings[0])
    assert.equal(second.similar_to, 'cello')
    assert.equal(
      second.message,
      'There is a sound like a violin: a cello. The file holds what comes nearest.',
    )
  }
  const absent: Finding = { match: 0.01, understood_as: 'dog', state: 'absent', softened_db: 28 }
  const { data: without } = await completeWith(gateway, { prompt: 'dog' }, [absent])
  assert.equal(
    without.findings[0].message,
    'No dog was heard. The file holds what comes nearest, up to 28 dB softer.',
  )
})

test('for an unknown prompt the findings say what its file holds, and the file is named after it', async (t) => {
  const gateway = await startGateway(t)
  const { requestId, status, data } = await completeWith(gateway, { prompt: 'kettle' }, [LOST])
  const expected = [{ prompt: 'kettle', ...LOST, message: LOST_MESSAGE }]
  assert.deepEqual([status.findings, data.findings], [expected, expected])
  assert.match(data.target.file_name, /\.everything-but-speech-not-kettle\.wav$/)
  assert.match(data.residual.file_name, /\.rest\.without-kettle\.wav$/)
  const { findings, result } = await getOverGrpc(t, gateway, requestId)
  const message = { ...expected[0], understood_as: '', asked: [], where: [] }
  assert.deepEqual([findings, result.findings], [[message], [message]])
})

test('for a prompt that is not a name the findings and file names say how it was read', async (t) => {
  const gateway = await startGateway(t)
  const sounds = [{ sound: 'drums', excluded: true, state: 'found' as const }]
  const finding = { ...CLEAR, understood_as: 'drums', asked: sounds }
  const { requestId, data } = await completeWith(gateway, { prompt: 'no drums' }, [finding])
  const message = 'Everything but the drums; the drums were found (match 97 %).'
  assert.deepEqual(data.findings, [{ prompt: 'no drums', ...finding, message }])
  assert.match(data.target.file_name, /\.without-drums\.wav$/)
  assert.match(data.residual.file_name, /\.rest\.drums\.wav$/)
  const { findings } = await getOverGrpc(t, gateway, requestId)
  assert.deepEqual(findings[0].asked, sounds)
  const earlier = await completeWith(gateway, { prompt: 'no drums' }, [CLEAR])
  assert.match(earlier.data.target.file_name, /\.no-drums\.wav$/, 'an engine of 0.4.0 gave them')
})

test('status, result, webhook and gRPC name the model of each target, results the gain', async (t) => {
  const gateway = await startGateway(t)
  const prompts = ['vocals', 'a person speaking']
  const found = [{ model: 'htdemucs' }, { model: 'mini', ...CLEAR }]
  const webhook = { webhookUrl: 'https://hooks.example.com/x' }
  const completed = await completeWith(gateway, { prompts }, found, webhook, -6.02)
  const { requestId, status, data } = completed
  const [delivery] = await gateway.rows('deliveries')
  const message = await getOverGrpc(t, gateway, requestId)
  assert.deepEqual([data.gain_db, message.result.gain_db], [-6.02, -6.02])
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
