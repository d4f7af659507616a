/** The request that the page shows. */

import { signal, type Signal } from '@preact/signals'
import type { RequestList, Status } from '../../clients/typescript/client.ts'
import { ApiError } from '../../clients/typescript/errors.ts'
import { newIdempotencyKey } from '../../clients/typescript/idempotency-key.ts'
import { isUnavailable, sleep } from '../../clients/typescript/retry.ts'
import { TASKS } from '../../shared/tasks.ts'
import type { MixerState } from '../audio/mixer-state.ts'
import { nameView, replaceByForm, viewInAddress } from './address.ts'
import { credential, currentClient, messageOf, retryWithNewCredential } from './credential.ts'
import {
  beginChoice,
  formInput,
  formOptions,
  filledPrompts,
  setSource,
  source,
  type RequestOptions,
  type OutputSource,
  type Source,
} from './draft.ts'
import { forgetSource, keepSource, loadSource } from './source-cache.ts'
import { cancelRequest, sourceName, placeOf, submit, type Submit } from './submit.ts'
import { withRetries } from './retry.ts'
import { taskMetadata, taskSide, chooseTask } from './chosen-task.ts'

export type RequestListItem = RequestList['data'][number]

export interface OpenRequest {
  id: string
  /** Name of the source. */
  name: string
  prompts: readonly string[]
  /** The media itself, if it is in this browser. */
  original: Blob | null
  /** The options that it was submitted with; absent if another page submitted it. */
  options?: RequestOptions | undefined
  /** Whether playback starts as soon as the lanes are loaded. */
  playsAtOnce?: boolean
  /** How its live preview was played; null if it was not. */
  heard?: MixerState | null
  status: Signal<Status | null>
  /** Why it cannot be followed. */
  problem: Signal<string>
  /** Time of the next attempt to reach the service, as by `Date.now`; null while it answers. */
  retryAt: Signal<number | null>
}

/** Whether nothing more will come: it has ended, or cannot be followed. */
export const isOver = ({ status, problem }: OpenRequest): boolean =>
  ['COMPLETED', 'FAILED'].includes(status.value?.status ?? '') || problem.value !== ''

/** The request that is shown; null to show the form. */
export const request = signal<OpenRequest | null>(null)
/** What is being sent before there is a request. */
export const sending = signal<{ part: number; abort: AbortController } | null>(null)
export const sendProblem = signal('')

/** A new source clears the problem of the previous one. */
source.subscribe(() => (sendProblem.value = ''))

/** Uploads the source and submits a request with all prompts. */
export const separate = (chosen: Source, { playsAtOnce = false } = {}): Promise<void> =>
  send(async (abort) => {
    // Read before the upload, during which the form may be changed for the next request.
    const [name, prompts, options] = [sourceName(chosen), filledPrompts(), formOptions()]
    const [input, metadata] = [{ ...formInput(), ...taskSide() }, taskMetadata()]
    const onProgress = (part: number) => (sending.value = { part, abort })
    const place = await placeOf(chosen, currentClient(abort.signal), onProgress)
    const idempotencyKey = newIdempotencyKey()
    const submission = { input: { ...input, ...place }, ...metadata, idempotencyKey }
    const openSubmit = { ...submission, name, prompts, options }
    await submitAndOpen(openSubmit, chosen.kind === 'address' ? null : chosen.bytes, abort)
    if (request.value) request.value.playsAtOnce = playsAtOnce
  })

/** Runs `work`, which submits; if it fails, the reason goes to `sendProblem`. */
export async function send(work: (abort: AbortController) => Promise<void>): Promise<void> {
  const abort = new AbortController()
  sending.value = { part: 0, abort }
  sendProblem.value = ''
  try {
    await work(abort)
  } catch (error) {
    if (error !== abort.signal.reason) sendProblem.value = messageOf(error)
  } finally {
    sending.value = null
  }
}

/** A submit as this tab remembers it until it is answered. */
interface OpenSubmit extends Submit, Pick<OpenRequest, 'name' | 'prompts' | 'options'> {
  /** A canceled submit is repeated all the same, to learn which request to cancel. */
  isCanceled?: boolean
}

const KEY = 'winnow-submit'

/**
 * Submits, and shows the request.
 * @param bytes the media, to be kept for a reload
 */
export async function submitAndOpen(
  openSubmit: OpenSubmit,
  bytes: Blob | null,
  abort: AbortController,
): Promise<void> {
  const keep = (value: OpenSubmit) => sessionStorage.setItem(KEY, JSON.stringify(value))
  keep(openSubmit)
  abort.signal.addEventListener('abort', () => keep({ ...openSubmit, isCanceled: true }))
  sending.value = { part: 1, abort }
  try {
    const id = await submit(openSubmit, abort.signal)
    const { name, prompts, options } = openSubmit
    openRequest({ id, name, prompts, options, original: bytes })
    forgetSubmit()
    if (bytes) void keepSource(id, bytes) // it may take seconds, in which nobody could cancel
  } catch (error) {
    if (!isUnavailable(error)) forgetSubmit() // otherwise the request may have been made
    throw error
  }
}

export const forgetSubmit = (): void => sessionStorage.removeItem(KEY)

/** Repeats a submit that was not answered before the page was reloaded. */
async function resumeSubmit(): Promise<void> {
  const stored = sessionStorage.getItem(KEY)
  if (stored === null || sending.peek()) return
  const openSubmit = JSON.parse(stored) as OpenSubmit
  await send((abort) => {
    if (openSubmit.isCanceled) abort.abort()
    return submitAndOpen(openSubmit, null, abort)
  })
}

// Also opens what the address named before somebody signed in.
credential.subscribe((current) => {
  if (!current) return
  void resumeSubmit()
  void openFromAddress()
})

/** Puts an output of the shown request into the form, to separate it further. */
export function takeOutput(output: Omit<OutputSource, 'kind'>): void {
  setSource({ kind: 'output', ...output })
  chooseTask(TASKS[0])
  close()
}

/** Shows a request and follows it. */
export function openRequest(
  fields: Pick<OpenRequest, 'id' | 'name' | 'prompts' | 'options' | 'original'>,
): void {
  leave()
  const open: OpenRequest = {
    ...fields,
    status: signal(null),
    problem: signal(''),
    retryAt: signal(null),
  }
  request.value = open
  nameView({ kind: 'request', id: open.id })
  void follow(open, following.signal)
}

/** Puts the source of a request into the form, for other sounds. */
export async function separateAgain({
  request_id: id,
  file_name: name,
}: RequestListItem): Promise<void> {
  const isLatest = beginChoice()
  const bytes = await loadSource(id)
  if (isLatest()) takeOutput({ name, place: { request_id: id, output: 'source' }, bytes })
}

/** Shows a request of the account. */
export async function openListed(listed: RequestListItem): Promise<void> {
  const { request_id: id, file_name: name, prompt, prompts = [prompt] } = listed
  openRequest({ id, name, prompts, original: await loadSource(id) })
}

/**
 * Deletes a request of the account with its outputs, and the copy of its source in this browser. A
 * request that was deleted elsewhere in the meantime counts as deleted.
 */
export async function deleteRequest(id: string): Promise<void> {
  try {
    await currentClient().delete(id)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'NOT_FOUND')) throw error
  }
  await forgetSource(id)
}

/** Shows the request that the address names, or the form. */
export async function openFromAddress(): Promise<void> {
  const view = viewInAddress()
  if (view.kind === 'form') leave()
  if (view.kind !== 'request' || !credential.peek() || isFollowed(view.id)) return
  const { signal } = following
  try {
    const listed = await withRetries(() => find(view.id), { signal })
    if (!isInAddress(view.id)) return
    if (listed) return await openListed(listed)
    leave()
    replaceByForm()
    sendProblem.value = `There is no request ${view.id} any more.`
  } catch (error) {
    if (signal.aborted || !isInAddress(view.id)) return
    leave() // the address stays, for another try
    sendProblem.value = messageOf(error)
  }
}

const isFollowed = (id: string): boolean => {
  const open = request.peek()
  return open?.id === id && open.problem.peek() === ''
}

/** Whether the address still names this request; otherwise the user has moved on. */
function isInAddress(id: string): boolean {
  const view = viewInAddress()
  return view.kind === 'request' && view.id === id
}

/** Finds it in the list, because the status has neither file name nor prompt. */
async function find(id: string): Promise<RequestListItem | undefined> {
  const client = currentClient()
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: RequestList = await client.list({ limit: 100, ...(cursor && { cursor }) })
    const listed = page.data.find(({ request_id: other }) => other === id)
    if (listed) return listed
    cursor = page.next_cursor
  }
  return undefined
}

/** Shorter pauses are not worth mentioning. */
const SHOWN_MS_MIN = 1_000
/** How long to wait after the client has given up. */
const RETRY_MS = 5_000

let following = new AbortController()

/** Returns to the form; the request continues. */
export function close(): void {
  leave()
  nameView({ kind: 'form' })
}

function leave(): void {
  following.abort()
  following = new AbortController()
  request.value = null
}

/** Follows a request as long as it is shown, even while the service does not answer. */
async function follow(open: OpenRequest, signal: AbortSignal): Promise<void> {
  const onRetry = (ms: number) => {
    if (ms >= SHOWN_MS_MIN) open.retryAt.value = Date.now() + ms
  }
  try {
    for (;;) {
      try {
        return await retryWithNewCredential(() => readStatus(open, signal, onRetry))
      } catch (error) {
        if (!isUnavailable(error)) throw error
        onRetry(RETRY_MS)
        await sleep(RETRY_MS, signal)
      }
    }
  } catch (error) {
    open.retryAt.value = null
    if (!signal.aborted) open.problem.value = messageOf(error)
  }
}

/** Shows every status until the last. */
async function readStatus(
  open: OpenRequest,
  signal: AbortSignal,
  onRetry: (ms: number) => void,
): Promise<void> {
  for await (const status of currentClient(signal).follow(open.id, { logs: true, onRetry })) {
    open.status.value = status
    open.retryAt.value = null
  }
}

/** @throws Error if the request goes on */
export async function cancel(open: OpenRequest): Promise<void> {
  const status = await cancelRequest(open.id)
  if (status) open.status.value = status
}
