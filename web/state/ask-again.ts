/** Separates the source of a completed request again, without another upload. */

import type { Result } from '../../clients/typescript/client.ts'
import { newIdempotencyKey } from '../../clients/typescript/idempotency-key.ts'
import { TASKS } from '../../shared/tasks.ts'
import { vouchingsOf, type VouchedSeparation } from '../../shared/vouching.ts'
import type { Section } from '../audio/mixer.ts'
import type { Finding, HeardSound } from './chip.ts'
import { chooseTask, preferredOutputOf } from './chosen-task.ts'
import {
  promptInput,
  prompts as formPrompts,
  type RequestOptions,
  type OutputPlace,
} from './draft.ts'
import { send, submitAndOpen, takeOutput, type OpenRequest } from './open-request.ts'
import { separators } from './separators.ts'

/** A request with its result. */
export interface CompletedRequest {
  request: OpenRequest
  result: Pick<Result, 'data' | 'metadata'>
}

const placeOf = ({ id }: OpenRequest): OutputPlace => ({ request_id: id, output: 'source' })

/** The options of the request; if another page made it, only the format is known. */
function optionsOf({ request, result }: CompletedRequest): RequestOptions {
  const format = result.data.target.file_name.split('.').pop()
  const isFormat = format === 'flac' || format === 'mp3'
  return request.options ?? (isFormat ? { output_format: format } : {})
}

interface FollowUp {
  metadata: Result['metadata'] | undefined
  prompts: readonly string[]
  options: RequestOptions
}

function separate(
  completed: CompletedRequest,
  { prompts, options, metadata }: FollowUp,
): Promise<void> {
  const { request } = completed
  const { name, original } = request
  const isResidual = preferredOutputOf({ metadata }) === 'residual'
  const side = isResidual && ({ side: 'residual' } as const)
  const input = { ...promptInput(prompts), ...options, ...side, ...placeOf(request) }
  const submission = { input, ...(metadata && { metadata }), idempotencyKey: newIdempotencyKey() }
  return send((abort) => submitAndOpen({ ...submission, name, prompts, options }, original, abort))
}

/** Offers to vouch for sounds; none if somebody already did. */
export function offersOf({ request, result }: CompletedRequest): VouchedSeparation[] {
  const { data, metadata } = result
  const isVouchedFor =
    metadata?.[VOUCHED] === true || request.options?.spans?.some(({ include }) => include)
  if (isVouchedFor || data.duration === undefined) return []
  return vouchingsOf({
    findings: data.findings ?? [],
    prompts: request.prompts,
    keeps: preferredOutputOf(result),
    heedsSpans: (separator) =>
      separators.value.find(({ name }) => name === separator)?.answers !== 'stems',
  })
}

/** Marks the request in its metadata, so that the offer does not come back after a reload. */
const VOUCHED = 'vouched'

/** @param where the sounds are; null for all of the media */
export function vouch(
  completed: CompletedRequest,
  { prompts }: VouchedSeparation,
  where: Section | null,
) {
  const { data, metadata } = completed.result
  const { spans = [], ...rest } = optionsOf(completed)
  const span = { ...(where ?? { start: 0, end: data.duration! }), include: true }
  const options = { ...rest, spans: [...spans, span] }
  return separate(completed, { prompts, options, metadata: { ...metadata, [VOUCHED]: true } })
}

/** Names to try instead of a prompt for one sound. */
export function otherNames({ state, similar_to: similar, nearest = [], asked = [] }: Finding) {
  if (asked.length > 1) return []
  return state === 'unknown' ? nearest : similar === undefined ? [] : [similar]
}

/** Asks for another sound in place of a prompt, without what that prompt excluded. */
export function tryName(
  completed: CompletedRequest,
  { prompt, asked = [] }: Finding,
  name: string,
) {
  const { request, result } = completed
  const other = asked[0]?.excluded ? `no ${name}` : name
  const prompts = new Set(request.prompts.map((old) => (old === prompt ? other : old)))
  const { metadata } = result
  return separate(completed, { prompts: [...prompts], options: optionsOf(completed), metadata })
}

/** The sounds of the media that no prompt asked for, the most prominent first. */
export function unaskedSounds({ request, result: { data } }: CompletedRequest): HeardSound[] {
  const findings = data.findings ?? []
  const asked = new Set(
    [
      ...request.prompts,
      ...findings.flatMap(({ asked = [] }) => asked.map(({ sound }) => sound)),
      ...findings.flatMap(({ understood_as: name }) => name ?? []),
    ].map((name) => name.toLowerCase()),
  )
  return (data.sounds ?? []).filter(({ name }) => !asked.has(name.toLowerCase()))
}

/** Asks for another sound of the same media, about which the spans and the model say nothing. */
export function separateHeard(completed: CompletedRequest, name: string): Promise<void> {
  const { spans: _spans, separator: _model, ...options } = optionsOf(completed)
  return separate(completed, { prompts: [name], options, metadata: undefined })
}

/** Puts the source and the prompts back into the form, to be changed. */
export function changeWords({ request, result }: CompletedRequest): void {
  const { name, original, prompts } = request
  takeOutput({ name, place: placeOf(request), bytes: original })
  chooseTask(TASKS.find(({ keeps }) => keeps === preferredOutputOf(result))!)
  formPrompts.value = [...prompts]
}
