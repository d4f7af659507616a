/** The clients of a run: what they do, and what they learn, by which the service is judged. */

import type { Answer, Call, SimulatedGateway } from './gateway.ts'
import type { Calls } from './calls.ts'
import type { Action } from './plan.ts'
import { webhookUrlOf } from './receiver.ts'
import { Process } from './scheduler.ts'
import { Violation } from './violation.ts'

/** Returns a gateway that takes calls at present, and its process. */
export type FrontDoor = () => { owner: Process; gateway: SimulatedGateway } | undefined

type Submit = Extract<Action, { do: 'submit' }>
type ActionOnRequest = Extract<Action, { of: number }>

const ATTEMPTS_MAX = 8
const PAUSE_MS = 5_000
const TERMINAL = ['COMPLETED', 'FAILED']
const REQUEST = '/v1/queue/requests/:request_id'

export class Clients {
  readonly process = new Process('client', false)
  /** Id with which each action's submit was answered. */
  readonly acknowledged = new Map<number, string>()
  /** Submit of each action, and the epoch milliseconds at which it began. */
  readonly submitted = new Map<number, { action: Submit; at: number }>()
  /** Requests that a client has asked to cancel. */
  readonly canceled = new Set<string>()
  /** Number of actions in progress. */
  underWay = 0
  readonly #calls: Calls
  readonly #frontDoor: FrontDoor
  readonly #wallClock: () => number
  readonly #files = new Map<string, Promise<string | undefined>>()
  readonly #submits = new Map<number, Promise<void>>()
  /** The first final status reported for each request, and when. */
  readonly #ends = new Map<string, { status: string; at: number }>()

  constructor(calls: Calls, frontDoor: FrontDoor, wallClock: () => number) {
    this.#calls = calls
    this.#frontDoor = frontDoor
    this.#wallClock = wallClock
  }

  async act(action: Submit | ActionOnRequest): Promise<void> {
    this.underWay += 1
    if (action.do === 'submit') {
      const submit = this.#submit(action)
      this.#submits.set(action.id, submit)
      await submit
    } else await this.#actOnRequest(action)
    this.underWay -= 1
  }

  async #submit(action: Submit): Promise<void> {
    const { id, account, source, prompts, priority, hasWebhook, hasKey, isSentTwice } = action
    const media =
      'url' in source
        ? { audio_url: `https://media.example/${source.url}.wav` }
        : { file_id: await this.#fileOf(account, source.file) }
    if ('file_id' in media && media.file_id === undefined) return
    this.submitted.set(id, { action, at: this.#wallClock() })
    const names = ['a bell', 'a dog'].slice(0, prompts)
    const body = {
      input: { ...media, ...(prompts > 1 ? { prompts: names } : { prompt: names[0] }) },
      ...(hasWebhook && { webhookUrl: webhookUrlOf(account) }),
      priority,
      metadata: { action: id },
    }
    const call = { accountId: account, body, ...(hasKey && { idempotencyKey: `key-${id}` }) }
    const send = () => this.#submitOnce(id, call, hasKey ? ATTEMPTS_MAX : 1)
    await Promise.all(hasKey && isSentTwice ? [send(), send()] : [send()])
  }

  async #submitOnce(id: number, call: Call, attempts: number): Promise<void> {
    const answer = await this.#persistently('POST /v1/queue/audio/separate', call, attempts)
    if (answer?.status !== 202) return
    const { request_id: requestId } = answer.body as { request_id: string }
    const before = this.acknowledged.get(id)
    if (before !== undefined && before !== requestId && !this.#isLongAgo(id)) {
      this.#report('one request a key', `action ${id} was answered ${before} and ${requestId}`)
    }
    this.acknowledged.set(id, requestId)
  }

  /** Returns whether the gateway may have forgotten the key of a submit. */
  #isLongAgo(id: number): boolean {
    return this.#wallClock() - this.submitted.get(id)!.at > 23 * 3_600_000
  }

  /** Returns the id of an uploaded file, or undefined if the upload failed. */
  #fileOf(account: string, number: number): Promise<string | undefined> {
    const name = `${account} ${number}`
    let file = this.#files.get(name)
    if (!file) {
      file = this.#upload(account, number)
      this.#files.set(name, file)
      void file.then((id) => {
        if (id === undefined) this.#files.delete(name)
      })
    }
    return file
  }

  async #upload(accountId: string, number: number): Promise<string | undefined> {
    const size = 1_000 + number
    const fields = { file_name: `${number}.wav`, content_type: 'audio/wav', file_size: size }
    const body = { ...fields, purpose: 'audio.separate.input' }
    const created = await this.#persistently('POST /v1/files', { accountId, body })
    if (created?.status !== 201) return undefined
    const { file_id: fileId } = created.body as { file_id: string }
    const uploaded = await this.#persistently('PUT /media/inputs/:file_id', {
      params: { file_id: fileId },
      query: { for: 'client', size: String(size) },
      headers: { 'content-length': String(size) },
    })
    const isThere = uploaded?.status === 200 || uploaded?.code === 'FILE_ALREADY_UPLOADED'
    return isThere ? fileId : undefined
  }

  async #actOnRequest({ do: what, of }: ActionOnRequest): Promise<void> {
    await this.#submits.get(of)
    const requestId = this.acknowledged.get(of)
    if (requestId === undefined) return
    if (what === 'cancel') this.canceled.add(requestId)
    const accountId = this.submitted.get(of)!.action.account
    const call = { accountId, params: { request_id: requestId } }
    if (what === 'read') return this.#read(requestId, call)
    const route = what === 'cancel' ? `PUT ${REQUEST}/cancel` : `POST ${REQUEST}/webhook/redeliver`
    const askedAt = this.#calls.scheduler.now
    const answer = await this.#call(route, call)
    if (what === 'cancel' && answer?.status === 202) this.#noteStatus(requestId, 'FAILED', askedAt)
  }

  async #read(requestId: string, call: Call): Promise<void> {
    const askedAt = this.#calls.scheduler.now
    const read = await this.#call(`GET ${REQUEST}/status`, { ...call, query: {} })
    if (read?.status === 404) {
      this.#report('an acknowledged submit exists', `${requestId} is not found`)
    }
    if (read?.status !== 200) return
    const { status } = read.body as { status: string }
    this.#noteStatus(requestId, status, askedAt)
    if (status === 'COMPLETED') await this.#call(`GET ${REQUEST}/result`, call)
  }

  /** @param askedAt answers may overtake each other: only a query sent after the end must report it */
  #noteStatus(requestId: string, status: string, askedAt: number): void {
    const end = this.#ends.get(requestId)
    if (end && askedAt > end.at && status !== end.status) {
      this.#report(
        'no status comes back from an end',
        `${requestId}: ${end.status}, then ${status}`,
      )
    }
    const at = this.#calls.scheduler.now
    if (!end && TERMINAL.includes(status)) this.#ends.set(requestId, { status, at })
  }

  /** Retries a call until its answer is final, or the attempts are used up. */
  async #persistently(
    route: string,
    call: Call,
    attempts = ATTEMPTS_MAX,
  ): Promise<Answer | undefined> {
    for (let left = attempts; left > 0; left -= 1) {
      const answer = await this.#call(route, call)
      if (answer && answer.status < 500 && answer.status !== 429) return answer
      if (left > 1) {
        const ms = this.#calls.choices.between('client pause', 10, PAUSE_MS)
        await this.#calls.scheduler.delay(this.process, ms, 'client pause')
      }
    }
    return undefined
  }

  /** Resolves with undefined if there was no answer. */
  #call(route: string, call: Call): Promise<Answer | undefined> {
    const door = this.#frontDoor()
    return this.#calls
      .toProcess(this.process, door?.owner, route, () => door!.gateway.call(route, call))
      .catch(() => undefined)
  }

  #report(invariant: string, detail: string): void {
    this.#calls.scheduler.report(new Violation(invariant, detail))
  }
}
