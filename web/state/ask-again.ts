/** Separates the source of a request again. The service has it, so nothing is uploaded. */

import type { Result, Submission } from '../../clients/typescript/client.ts'
import { newIdempotencyKey } from '../../clients/typescript/idempotency-key.ts'
import { TASKS } from '../../shared/tasks.ts'
import { vouchingsOf, type VouchedSeparation } from '../../shared/vouching.ts'
import type { Section } from '../audio/mixer.ts'
import type { Finding, HeardSound } from './chip.ts'
import { chooseTask, keptOf } from './chosen-task.ts'
import {
  promptInput,
  prompts as formPrompts,
  type AskedOptions,
  type OutputPlace,
} from './draft.ts'
import { send, submitAndOpen, takeOutput, type OpenRequest } from './open-request.ts'
import { separators } from './separators.ts'

/** A request that the page shows, with its result. */
export interface ShownResult {
  request: OpenRequest
  result: Pick<Result, 'data' | 'metadata'>
}

const placeOf = ({ id }: OpenRequest): OutputPlace => ({ request_id: id, output: 'source' })

/** The options of the request as far as known; of one made by another page, only the format is. */
function optionsOf({ request, result }: ShownResult): AskedOptions {
  const format = result.data.target.file_name.split('.').pop()
  const isOther = format === 'flac' || format === 'mp3'
  return request.options ?? (isOther ? { output_format: format } : {})
}

interface FollowUp {
  metadata: Submission['metadata'] | undefined
  prompts: readonly string[]
  options: AskedOptions
}

function separate(answered: ShownResult, { prompts, options, metadata }: FollowUp): Promise<void> {
  const { request } = answered
  const side =
    metadata && keptOf({ metadata }) === 'residual' ? ({ side: 'residual' } as const) : {}
  const input = { ...promptInput(prompts), ...options, ...side, ...placeOf(request) }
  const { name, original } = request
  const idempotencyKey = newIdempotencyKey()
  const known = { name, prompts, options }
  const submitting = { input, ...(metadata && { metadata }), idempotencyKey, ...known }
  return send((abort) => submitAndOpen(submitting, original, abort))
}

/** Offers to vouch for sounds; none if somebody already did. */
export function offersOf({ request, result }: ShownResult): VouchedSeparation[] {
  const { data, metadata } = result
  const isVouchedFor =
    metadata?.[VOUCHED] === true || request.options?.spans?.some(({ include }) => include)
  if (isVouchedFor || data.duration === undefined) return []
  return vouchingsOf({
    findings: data.findings ?? [],
    prompts: request.prompts,
    keeps: keptOf(result),
    heedsSpans: (separator) =>
      separators.value.find(({ name }) => name === separator)?.answers !== 'stems',
  })
}

/** Stored in the metadata, so that it is not offered again after a reload. */
const VOUCHED = 'vouched'

/** @param where the sounds are; null for all of the media */
export function vouch(
  answered: ShownResult,
  { prompts }: VouchedSeparation,
  where: Section | null,
) {
  const { data, metadata } = answered.result
  const { spans = [], ...rest } = optionsOf(answered)
  const span = { ...(where ?? { start: 0, end: data.duration! }), include: true }
  const options = { ...rest, spans: [...spans, span] }
  return separate(answered, { prompts, options, metadata: { ...metadata, [VOUCHED]: true } })
}

/** Names to try instead of a prompt for one sound. */
export function otherNames({ state, similar_to: similar, nearest = [], asked = [] }: Finding) {
  if (asked.length > 1) return []
  return state === 'unknown' ? nearest : similar === undefined ? [] : [similar]
}

/** Asks for another sound in place of a prompt, without what that prompt excluded. */
export function tryName(answered: ShownResult, { prompt, asked = [] }: Finding, name: string) {
  const { request, result } = answered
  const other = asked[0]?.excluded ? `no ${name}` : name
  const prompts = new Set(request.prompts.map((old) => (old === prompt ? other : old)))
  const { metadata } = result
  return separate(answered, { prompts: [...prompts], options: optionsOf(answered), metadata })
}

/** The sounds of the media that no prompt asked for, the most prominent first. */
export function unaskedSounds({ request, result: { data } }: ShownResult): HeardSound[] {
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
export function separateHeard(answered: ShownResult, name: string): Promise<void> {
  const { spans: _spans, separator: _model, ...options } = optionsOf(answered)
  return separate(answered, { prompts: [name], options, metadata: undefined })
}

/** Puts the source and the prompts back into the form, to be changed. */
export function changeWords({ request, result }: ShownResult): void {
  const { name, original, prompts } = request
  takeOutput({ name, place: placeOf(request), bytes: original })
  chooseTask(TASKS.find(({ keeps }) => keeps === keptOf(result))!)
  formPrompts.value = [...prompts]
}
