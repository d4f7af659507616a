/**
 * Sends several files, each a request of its own, follows them together, and restores the list
 * after a reload of this tab.
 */

import { computed, signal, type Signal } from '@preact/signals'
import type { Status } from '../../clients/typescript/client.ts'
import { ApiError } from '../../clients/typescript/errors.ts'
import { newIdempotencyKey } from '../../clients/typescript/idempotency-key.ts'
import { isTransient, sleep } from '../../clients/typescript/retry.ts'
import { FILES_MAX } from './choose-files.ts'
import { credential, currentClient, messageOf, retryWithNewCredential } from './credential.ts'
import { lengthWarning } from './source-warning.ts'
import {
  formInput,
  filledPrompts,
  mayWait,
  setSource,
  type FileSource,
  type SeveralFiles,
} from './draft.ts'
import { keepSource, loadSource } from './source-cache.ts'
import { never, withRetries } from './retry.ts'
import { openRequest, sendProblem } from './open-request.ts'
import { cancelRequest, placeOf, submit, type Submit } from './submit.ts'
import { taskMetadata, taskSide } from './chosen-task.ts'

export interface Entry {
  /** With its folders, such as `disc 1/song.wav`. */
  path: string
  prompts: readonly string[]
  /** Null after a reload of the page, which then can't read the file any more. */
  draft: ({ source: FileSource } & Pick<Submit, 'input' | 'metadata' | 'priority'>) | null
  /** The submission, once the file is uploaded. */
  submit: Submit | null
  state: Signal<EntryState>
  /** Why it could not be canceled, or listened to. */
  problem: Signal<string>
  /** Aborts the upload. */
  abort: AbortController
}

export type EntryState =
  | { kind: 'waiting' }
  /** `part` is the share that is uploaded, from 0 to 1. */
  | { kind: 'sending'; part: number }
  /** The service accepts no more for now. */
  | { kind: 'held'; why: string }
  /** The status is null until the service has reported it. */
  | { kind: 'submitted'; id: string; status: Status | null }
  | { kind: 'canceled' }
  /** No request was made. */
  | { kind: 'failed'; why: string }

export type Outcome = 'separated' | 'failed' | 'canceled'

export const entries = signal<readonly Entry[]>([])
/** Whether files were added since the page was loaded. */
export const hasAdded = signal(false)
/** Why sending is paused until the user resumes it. */
export const stopped = signal('')
/** Why the requests can't be followed now. */
export const problem = signal('')

/** A browser has six connections to a service over HTTP/1.1, and the page needs some. */
const UPLOADS_MAX = 3
const POLL_MS = 2_000
/** The most that one call lists. */
const LISTED_MAX = 100

/** Undefined until it has ended. */
export function outcomeOf(state: EntryState): Outcome | undefined {
  if (state.kind === 'failed' || state.kind === 'canceled') return state.kind
  if (state.kind !== 'submitted') return undefined
  if (state.status?.status === 'COMPLETED') return 'separated'
  if (state.status?.status !== 'FAILED') return undefined
  return state.status.error?.code === 'CANCELED' ? 'canceled' : 'failed'
}

/** How many files before the one of this request have not ended yet. */
export function filesAheadOf(id: string): number {
  const isOfRequest = ({ state }: Entry) =>
    state.value.kind === 'submitted' && state.value.id === id
  const place = entries.value.findIndex(isOfRequest)
  const before = entries.value.slice(0, Math.max(0, place))
  return before.filter(({ state }) => outcomeOf(state.value) === undefined).length
}

export const counts = computed(() => {
  const outcomes = entries.value.map(({ state }) => outcomeOf(state.value))
  const count = (kind: Outcome) => outcomes.filter((outcome) => outcome === kind).length
  const [separated, failed, canceled] = [count('separated'), count('failed'), count('canceled')]
  const ended = separated + failed + canceled
  return { all: outcomes.length, ended, separated, failed, canceled }
})

const isUnsent = ({ state }: Entry): boolean =>
  ['waiting', 'sending', 'held'].includes(state.value.kind)

// Unsent files are lost with the page: the browser asks whoever leaves it.
addEventListener('beforeunload', (event) => {
  if (entries.value.some(isUnsent)) event.preventDefault()
})
credential.subscribe((current) => {
  if (!current) return
  void follow()
  sendWaiting() // submits that got no answer before the page was reloaded
})

/** Starts sending the files of the form, with its prompts and options. */
export function separateFiles({ files }: SeveralFiles): void {
  const all = entries.value.length + files.length
  sendProblem.value =
    all > FILES_MAX
      ? `The list holds at most ${FILES_MAX} files; this would make ${all}. Close it first.`
      : ''
  if (all > FILES_MAX) return
  const input = { ...formInput(), ...taskSide() }
  const priority = mayWait.value && ({ priority: 'batch' } as const)
  const submission = { input, ...taskMetadata(), ...priority }
  const prompts = filledPrompts()
  const added = files.map(({ path, source }) =>
    entryOf({
      path,
      prompts,
      draft: { source, ...submission },
      submit: null,
      state: { kind: 'waiting' },
    }),
  )
  entries.value = [...entries.value, ...added]
  hasAdded.value = true
  setSource(null)
  sendWaitingFiles()
}

type NewEntry = Omit<Entry, 'state' | 'problem' | 'abort'> & { state: EntryState }

const entryOf = ({ state, ...fields }: NewEntry): Entry => ({
  ...fields,
  state: signal(state),
  problem: signal(''),
  abort: new AbortController(),
})

/** Resumes sending. */
export function sendWaitingFiles(): void {
  stopped.value = ''
  saveQueue()
  sendWaiting()
}

function sendWaiting(): void {
  while (senders < UPLOADS_MAX && nextWaiting()) void sendAll()
}

let senders = 0

async function sendAll(): Promise<void> {
  senders += 1
  for (let entry = nextWaiting(); entry; entry = nextWaiting()) await send(entry)
  senders -= 1
}

const nextWaiting = (): Entry | undefined =>
  stopped.value === ''
    ? entries.value.find(({ state }) => state.value.kind === 'waiting')
    : undefined

/** Never throws. */
async function send(entry: Entry): Promise<void> {
  const { state, abort } = entry
  state.value = { kind: 'sending', part: 0 }
  try {
    state.value = { kind: 'submitted', id: await request(entry), status: null }
    void follow()
  } catch (error) {
    if (abort.signal.aborted) state.value = { kind: 'canceled' }
    else if (affectsEveryFile(error)) {
      stopped.value = messageOf(error)
      state.value = { kind: 'waiting' }
    } else state.value = { kind: 'failed', why: messageOf(error) }
  }
  saveQueue()
}

/**
 * Uploads and submits.
 * @returns the id of the new request
 */
async function request(entry: Entry): Promise<string> {
  const { state, abort } = entry
  const { signal } = abort
  const options = { signal, onWait: (why: string) => (state.value = { kind: 'held', why }) }
  entry.submit ??= await withRetries(() => upload(entry), options)
  saveQueue()
  const submission = entry.submit
  return withRetries(() => submit(submission, signal), options)
}

async function upload({ draft, state, abort: { signal } }: Entry): Promise<Submit> {
  if (!draft) throw new Error(LOST)
  const { source, ...submission } = draft
  await source.bytes.slice(0, 1).arrayBuffer() // throws if the file is gone or has changed
  const warning = await lengthWarning(source.bytes)
  if (warning) throw new Error(`${warning} Choose it alone to send it anyway.`)
  const place = await placeOf(source, currentClient(signal), (part) => {
    state.value = { kind: 'sending', part }
  })
  const input = { ...submission.input, ...place }
  return { ...submission, input, idempotencyKey: newIdempotencyKey() }
}

/** Returns whether every other file would fail in the same way. */
const affectsEveryFile = (error: unknown): boolean =>
  isTransient(error) || (error instanceof ApiError && [401, 402, 403].includes(error.status ?? 0))

let isFollowing = false

/** Follows the requests until all have ended. */
async function follow(): Promise<void> {
  if (isFollowing) return
  isFollowing = true
  while (credential.value && underWay().length > 0) {
    await retryWithNewCredential(pollRequests).then(
      () => (problem.value = ''),
      (error: unknown) => (problem.value = messageOf(error)),
    )
    await sleep(POLL_MS, never)
  }
  isFollowing = false
}

const underWay = () =>
  entries.value.flatMap((entry) => {
    const state = entry.state.value
    return state.kind === 'submitted' && !outcomeOf(state) ? [{ entry, id: state.id }] : []
  })

/** Gets the account's newest requests in one call, and older ones by their ids. */
async function pollRequests(): Promise<void> {
  const open = underWay()
  const client = currentClient()
  const { data } = await withRetries(() => client.list({ limit: LISTED_MAX }), { signal: never })
  const newest = new Map(data.map((listed) => [listed.request_id, listed]))
  for (const { entry, id } of open) {
    const state: EntryState = newest.has(id)
      ? { kind: 'submitted', id, status: newest.get(id)! }
      : await pollRequest(id)
    if (!outcomeOf(entry.state.value)) entry.state.value = state // it may have been canceled
  }
}

async function pollRequest(id: string): Promise<EntryState> {
  try {
    const status = await withRetries(() => currentClient().status(id), { signal: never })
    return { kind: 'submitted', id, status }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error
    return { kind: 'failed', why: error.message }
  }
}

/** Ends a file's request, or its sending. */
export async function cancelEntry(entry: Entry): Promise<void> {
  const { state, abort, submit } = entry
  const current = state.value
  if (outcomeOf(current)) return
  entry.problem.value = ''
  if (current.kind === 'waiting' && submit) {
    abort.abort()
    await send(entry) // the request may exist: a retry tells which one to cancel
  } else if (current.kind === 'waiting') state.value = { kind: 'canceled' }
  else if (current.kind !== 'submitted') abort.abort()
  else {
    try {
      const { id } = current
      const status = await cancelRequest(id)
      // Otherwise it has just ended, which the next poll shows.
      if (status) state.value = { kind: 'submitted', id, status }
    } catch (error) {
      entry.problem.value = `Not canceled: ${messageOf(error)}`
    }
  }
  saveQueue()
}

/** Cancels unsent files first, so that they don't take the place of canceled ones. */
export async function cancelAll(): Promise<void> {
  const unsent = entries.value.filter(isUnsent)
  const others = entries.value.filter((entry) => !isUnsent(entry))
  for (const entry of [...unsent, ...others]) await cancelEntry(entry)
}

/** Opens the request of a file in the player. */
export async function listenTo({ path, prompts, draft, state }: Entry): Promise<void> {
  const current = state.value
  if (current.kind !== 'submitted') return
  const bytes = draft?.source.bytes
  const original = bytes ?? (await loadSource(current.id))
  openRequest({ id: current.id, name: path.split('/').at(-1)!, prompts, original })
  if (bytes) void keepSource(current.id, bytes)
}

/** Shows the new name of a request's file, in its folder. */
export function renameEntry(id: string, name: string): void {
  entries.value = entries.value.map((entry) => {
    const { value } = entry.state
    if (value.kind !== 'submitted' || value.id !== id) return entry
    return { ...entry, path: [...entry.path.split('/').slice(0, -1), name].join('/') }
  })
  saveQueue()
}

/** Clears the list: uploads are aborted, submitted requests continue. */
export function forgetFiles(): void {
  for (const { abort } of entries.value) abort.abort()
  entries.value = []
  stopped.value = ''
  problem.value = ''
  saveQueue()
}

const KEY = 'winnow-files'
const LOST = 'The page was reloaded before this file was sent; choose it again.'

interface StoredEntry {
  path: string
  prompts: readonly string[]
  /** Of the request, if there is one. */
  id?: string
  /** A submission that got no answer yet. */
  submit?: Submit
  /** Why there is no request. */
  why?: string
  isCanceled?: boolean
}

/** Keeps the list in this tab. */
function saveQueue(): void {
  const list = entries.value.map((entry): StoredEntry => {
    const { path, prompts, submit, abort } = entry
    const { value } = entry.state
    return {
      path,
      prompts,
      ...(value.kind === 'submitted' && { id: value.id }),
      ...(submit && isUnsent(entry) && { submit }),
      ...(value.kind === 'failed' && { why: value.why }),
      ...((value.kind === 'canceled' || abort.signal.aborted) && { isCanceled: true }),
    }
  })
  if (list.length === 0) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, JSON.stringify(list))
}

/** Restores the list that this tab had before the page was reloaded. */
export function restoreFiles(): void {
  const list = JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as StoredEntry[]
  entries.value = list.map((stored) => {
    const { path, prompts, submit = null, isCanceled = false } = stored
    const entry = entryOf({ path, prompts, draft: null, submit, state: stateOf(stored) })
    // a canceled submit is repeated all the same, to learn which request to cancel
    if (submit && isCanceled) entry.abort.abort()
    return entry
  })
}

function stateOf({ id, submit, why = LOST, isCanceled }: StoredEntry): EntryState {
  if (id !== undefined) return { kind: 'submitted', id, status: null }
  if (submit) return { kind: 'waiting' }
  return isCanceled === true ? { kind: 'canceled' } : { kind: 'failed', why }
}
