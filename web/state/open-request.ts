/** The request that the page shows. */

import { signal, type Signal } from '@preact/signals'
import type { RequestList, Status } from '../../clients/typescript/client.ts'
import { ApiError } from '../../clients/typescript/errors.ts'
import { newIdempotencyKey } from '../../clients/typescript/idempotency-key.ts'
import { TASKS } from '../../shared/tasks.ts'
import { nameView, viewInAddress } from './address.ts'
import { credential, currentClient, messageOf } from './credential.ts'
import {
  askedOptions,
  givenPrompts,
  inputOf,
  setSource,
  source,
  type AskedOptions,
  type OutputSource,
  type Source,
} from './draft.ts'
import { forgetSource, keepSource, loadSource } from './kept-sources.ts'
import { isAway, sleep } from './patience.ts'
import { nameOf, placeOf, submit, type Submit } from './submit.ts'
import { askedMetadata, askedSide, chooseTask } from './chosen-task.ts'

export type RequestListItem = RequestList['data'][number]

export interface OpenRequest {
  id: string
  /** The source's. */
  name: string
  prompts: readonly string[]
  /** The media itself, where this browser has it. */
  original: Blob | null
  /** Options that it was submitted with; absent: not by this page as it is. */
  options?: AskedOptions | undefined
  /** Its lanes begin to play as soon as they are there. */
  playsAtOnce?: boolean
  status: Signal<Status | null>
  /** Why it can't be followed. */
  problem: Signal<string>
  /** When the service is asked again, which does not answer, by `Date.now`; null: it answers. */
  retryAt: Signal<number | null>
}

/** Whether nothing more is to come: it has ended, or can't be followed. */
export const isOver = ({ status, problem }: OpenRequest): boolean =>
  ['COMPLETED', 'FAILED'].includes(status.value?.status ?? '') || problem.value !== ''

/** The shown request; null: the form alone. */
export const request = signal<OpenRequest | null>(null)
/** State before there is a request. */
export const sending = signal<{ part: number; abort: AbortController } | null>(null)
export const sendProblem = signal('')

/** Another source clears the problem of the last. */
source.subscribe(() => (sendProblem.value = ''))

/** Uploads the source and submits a request of all prompts. */
export const separate = (chosen: Source, { playsAtOnce = false } = {}): Promise<void> =>
  send(async (abort) => {
    const onProgress = (part: number) => (sending.value = { part, abort })
    const place = await placeOf(chosen, currentClient(abort.signal), onProgress)
    const [name, prompts] = [nameOf(chosen), givenPrompts()]
    const idempotencyKey = newIdempotencyKey()
    const asked = { input: { ...inputOf(place), ...askedSide() }, ...askedMetadata() }
    const submitting = { ...asked, idempotencyKey, name, prompts, options: askedOptions() }
    await submitAndOpen(submitting, chosen.kind === 'address' ? null : chosen.bytes, abort)
    if (request.value) request.value.playsAtOnce = playsAtOnce
  })

/** Runs `work`, which submits; its failure goes to `sendProblem`. */
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

/** This tab keeps it of a submit until it is answered. */
interface Submitting extends Submit, Pick<OpenRequest, 'name' | 'prompts' | 'options'> {
  /** It is made all the same, to know what is to be canceled. */
  isCanceled?: boolean
}

const KEY = 'winnow-submit'

/** Submits, and shows the request. @param bytes the media, to be kept for a reload */
export async function submitAndOpen(
  submitting: Submitting,
  bytes: Blob | null,
  abort: AbortController,
): Promise<void> {
  const keep = (kept: Submitting) => sessionStorage.setItem(KEY, JSON.stringify(kept))
  keep(submitting)
  abort.signal.addEventListener('abort', () => keep({ ...submitting, isCanceled: true }))
  sending.value = { part: 1, abort }
  try {
    const id = await submit(submitting, abort.signal)
    if (bytes) await keepSource(id, bytes)
    const { name, prompts, options } = submitting
    openRequest({ id, name, prompts, options, original: bytes ?? (await loadSource(id)) })
    forgetSubmit()
  } catch (error) {
    if (!isAway(error)) forgetSubmit() // else it may have been made
    throw error
  }
}

export const forgetSubmit = (): void => sessionStorage.removeItem(KEY)

/** Makes a submit again whose answer was not here yet when the page was loaded again. */
async function resumeSubmit(): Promise<void> {
  const kept = sessionStorage.getItem(KEY)
  if (kept === null || sending.peek()) return
  const submitting = JSON.parse(kept) as Submitting
  await send((abort) => {
    if (submitting.isCanceled) abort.abort()
    return submitAndOpen(submitting, null, abort)
  })
}

// Also what the address named before somebody signed in.
credential.subscribe((current) => {
  if (!current) return
  void resumeSubmit()
  void openFromAddress()
})

/** Puts an output of the request that is shown into the form, to separate it further. */
export function takeOutput(output: Omit<OutputSource, 'kind'>): void {
  setSource({ kind: 'output', ...output })
  chooseTask(TASKS[0])
  close()
}

type OpenRequestFields = Pick<OpenRequest, 'id' | 'name' | 'prompts' | 'options' | 'original'>

/** Shows a request, and follows it. */
export const openRequest = (fields: OpenRequestFields): void =>
  show({ ...fields, status: signal(null), problem: signal(''), retryAt: signal(null) })

/** Puts the source of a request of the account into the form, for other sounds. */
export async function separateAgain({
  request_id: id,
  file_name: name,
}: RequestListItem): Promise<void> {
  takeOutput({ name, place: { request_id: id, output: 'source' }, bytes: await loadSource(id) })
}

/** Shows a request of the account. */
export async function openListed(listed: RequestListItem): Promise<void> {
  const { request_id: id, file_name: name, prompt, prompts = [prompt] } = listed
  openRequest({ id, name, prompts, original: await loadSource(id) })
}

/**
 * Deletes a request of the account with its outputs, and the copy of its source in this browser.
 * One that was deleted elsewhere meanwhile counts as done.
 */
export async function deleteRequest(id: string): Promise<void> {
  try {
    await currentClient().delete(id)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'NOT_FOUND')) throw error
  }
  await forgetSource(id)
}

/** Shows what the address names: a request of the account, or the form. */
export async function openFromAddress(): Promise<void> {
  const view = viewInAddress()
  if (view.kind === 'form') leave()
  if (view.kind !== 'request' || !credential.peek() || isFollowed(view.id)) return
  try {
    const listed = await find(view.id)
    if (!listed) throw new Error(`There is no request ${view.id} any more.`)
    if (isInAddress(view.id)) await openListed(listed)
  } catch (error) {
    if (!isInAddress(view.id)) return
    close()
    sendProblem.value = messageOf(error)
  }
}

const isFollowed = (id: string): boolean => {
  const open = request.peek()
  return open?.id === id && open.problem.peek() === ''
}

/** Whoever went on meanwhile is left alone. */
function isInAddress(id: string): boolean {
  const view = viewInAddress()
  return view.kind === 'request' && view.id === id
}

/** As the list has it: the status names neither file nor prompt. */
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

/** Shorter pauses are not worth a word. */
const SHOWN_MS_MIN = 1_000
/** Pause once the client has given up. */
const RETRY_MS = 5_000

let following = new AbortController()

function show(next: OpenRequest): void {
  leave()
  request.value = next
  nameView({ kind: 'request', id: next.id })
  void follow(next, following.signal)
}

/** Back to the form; the request goes on. */
export function close(): void {
  leave()
  nameView({ kind: 'form' })
}

function leave(): void {
  following.abort()
  following = new AbortController()
  request.value = null
}

/** Follows a request for as long as it is shown, however long the service does not answer. */
async function follow(open: OpenRequest, signal: AbortSignal): Promise<void> {
  const onRetry = (ms: number) => {
    if (ms >= SHOWN_MS_MIN) open.retryAt.value = Date.now() + ms
  }
  try {
    for (;;) {
      try {
        for await (const status of currentClient(signal).follow(open.id, { logs: true, onRetry })) {
          open.status.value = status
          open.retryAt.value = null
        }
        return
      } catch (error) {
        if (!isAway(error)) throw error
        onRetry(RETRY_MS)
        await sleep(RETRY_MS, signal)
      }
    }
  } catch (error) {
    open.retryAt.value = null
    if (!signal.aborted) open.problem.value = messageOf(error)
  }
}

export async function cancel(open: OpenRequest): Promise<void> {
  try {
    open.status.value = await currentClient().cancel(open.id)
  } catch (error) {
    open.problem.value = messageOf(error)
  }
}
