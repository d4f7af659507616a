/** A campaign's clients: they keep submitting, following and downloading, and record what they see. */

import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Client, type CreatedFile } from '../../clients/typescript/node.ts'
import { noise } from '../support/media/signals.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'
import { isEnd, type Ask, type History } from './history.ts'
import { WEBHOOK_SECRET, type Receiver } from './receivers.ts'
import type { Account, Service } from './service.ts'

const SAMPLE_RATE = 8_000
/** Lengths of the files that clients send. */
const SECONDS = [0.4, 1.3]
const POLL_MS = 1_000
/** A status stream is reopened after this time. */
const STREAM_MS_MAX = 60_000

export interface AskOptions {
  account: Account
  /** Whether to break the upload off in the middle, and then send it again. */
  breaksOff?: boolean
  /** Cancels the request this long after its submit was answered. */
  cancelAfterMs?: number
}

interface ClientsOptions {
  service: Service
  accounts: readonly Account[]
  receivers: readonly Receiver[]
  history: History
  /** Milliseconds since the start of the campaign. */
  now: () => number
  /** Returns a number from 0 up to 1. */
  random: () => number
}

export class Clients {
  readonly #options: ClientsOptions
  readonly #files = SECONDS.map((seconds) => ({
    seconds,
    bytes: wavBytes([noise(seconds, SAMPLE_RATE)], SAMPLE_RATE),
  }))
  readonly #open = new Set<Promise<void>>()
  #submitting: AbortController | null = null

  constructor(options: ClientsOptions) {
    this.#options = options
  }

  /** Number of requests that have not ended yet. */
  get open(): number {
    return this.#open.size
  }

  /** Submits `perSecond` requests a second on average, until `stop`. */
  start(perSecond: number): void {
    const { accounts, random } = this.#options
    const submitting = new AbortController()
    this.#submitting = submitting
    void (async () => {
      while (!submitting.signal.aborted) {
        this.ask({ account: accounts[Math.floor(random() * accounts.length)]! })
        await sleep((2_000 * random()) / perSecond, undefined, submitting).catch(() => undefined)
      }
    })()
  }

  stop(): void {
    this.#submitting?.abort()
  }

  /** Resolves when every request has ended. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }

  /** Starts one request, from the upload to the download of its result; never throws. */
  ask(options: AskOptions): void {
    const { history, now, random, service } = this.#options
    const ask: Ask = {
      number: history.asks.length,
      account: options.account.name,
      submittedAt: now(),
      hasWebhook: random() < 0.7,
      requestIds: [],
      isUncertain: false,
      refusal: undefined,
      isCanceled: false,
      statuses: [],
      cost: 0,
      damage: undefined,
    }
    history.asks.push(ask)
    const life = this.#live(ask, options)
      .catch((error: unknown) => {
        if (service.over.signal.aborted) return
        const { stack = String(error) } = error as Error
        history.surprises.push(`request ${ask.number} (${ask.requestIds.join()}): ${stack}`)
      })
      .finally(() => this.#open.delete(life))
    this.#open.add(life)
  }

  async #live(ask: Ask, options: AskOptions): Promise<void> {
    const { random } = this.#options
    const file = this.#files[Math.floor(random() * this.#files.length)]!
    ask.cost = Math.ceil(file.seconds)
    const requestId = await this.#submit(ask, file.bytes, options)
    if (requestId === undefined) return
    await Promise.all([
      random() < 0.5 ? this.#poll(ask, requestId, options) : this.#stream(ask, requestId, options),
      this.#cancel(ask, requestId, options),
    ])
    if (ask.statuses.some(({ status }) => status === 'COMPLETED')) {
      await this.#fetchResult(ask, requestId, { ...options, seconds: file.seconds })
    }
  }

  /** Returns the request's id, or undefined if it was refused. */
  async #submit(
    ask: Ask,
    bytes: Buffer,
    { account, breaksOff }: AskOptions,
  ): Promise<string | undefined> {
    const { service, receivers, random, now } = this.#options
    const fileId = await this.#upload(account, bytes, breaksOff ?? false)
    const receiver = receivers[Math.floor(random() * receivers.length)]!
    const submission = {
      input: { prompt: `sound ${ask.number}`, file_id: fileId },
      metadata: { number: ask.number },
      ...(ask.hasWebhook && { webhookUrl: receiver.url, webhookSecret: WEBHOOK_SECRET }),
    }
    const options = { idempotencyKey: `ask-${ask.number}` }
    ask.submittedAt = now()
    const submitOnce = () =>
      service.persistently(
        account,
        async (client) => {
          const { request_id: requestId } = await client.submit(submission, options)
          ask.requestIds.push(requestId)
        },
        () => (ask.isUncertain = true),
      )
    const isSentTwice = random() < 0.15
    try {
      await Promise.all(isSentTwice ? [submitOnce(), submitOnce()] : [submitOnce()])
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      ask.refusal = error.code
    }
    return ask.requestIds[0]
  }

  /** Uploads a file, again if need be: when a clock jumps, the upload URL may expire before it is used. */
  async #upload(account: Account, bytes: Buffer, breaksOff: boolean): Promise<string> {
    const { service } = this.#options
    const blob = new Blob([bytes])
    for (;;) {
      const file = await service.persistently(account, (client) =>
        client.createFile({
          file_name: 'sound.wav',
          content_type: 'audio/wav',
          file_size: bytes.length,
          purpose: 'audio.separate.input',
        }),
      )
      if (breaksOff) await breakOff(file, bytes)
      try {
        await service.persistently(account, (client) => client.send(file, blob))
        return file.file_id
      } catch (error) {
        const code = error instanceof ApiError ? error.code : undefined
        if (code === 'FILE_ALREADY_UPLOADED') return file.file_id // the answer was lost
        // A timed-out attempt may arrive after a later one, and replaces it.
        const isReplaced = code === 'INVALID_REQUEST' && /newer upload/.test(String(error))
        if (code !== 'FILE_EXPIRED' && !isReplaced) throw error
      }
    }
  }

  async #poll(ask: Ask, requestId: string, { account }: AskOptions): Promise<void> {
    const { service, now } = this.#options
    for (;;) {
      await sleep(POLL_MS)
      let askedAt = now()
      const status = await service.persistently(account, (client) => {
        askedAt = now()
        return client.status(requestId)
      })
      if (this.#see(ask, status, askedAt)) return
    }
  }

  async #stream(ask: Ask, requestId: string, { account }: AskOptions): Promise<void> {
    const { service, now } = this.#options
    for (;;) {
      const askedAt = now()
      const { id } = account.key
      try {
        const client = service.clientOf(account, AbortSignal.timeout(STREAM_MS_MAX))
        for await (const status of client.follow(requestId, { intervalSeconds: 1 })) {
          if (this.#see(ask, status, askedAt)) return
        }
      } catch (error) {
        service.over.signal.throwIfAborted()
        const status = error instanceof ApiError ? error.status : undefined
        const isRevoked = error instanceof ApiError && error.code === 'UNAUTHENTICATED'
        const passes = status === undefined || status >= 500 || status === 429
        if (!passes && !(isRevoked && id !== account.key.id)) throw error
        await sleep(POLL_MS)
      }
    }
  }

  async #cancel(ask: Ask, requestId: string, options: AskOptions): Promise<void> {
    if (options.cancelAfterMs === undefined) return
    const { service, now } = this.#options
    await sleep(options.cancelAfterMs)
    ask.isCanceled = true
    let askedAt = now()
    try {
      const status = await service.persistently(options.account, (client) => {
        askedAt = now()
        return client.cancel(requestId)
      })
      this.#see(ask, status, askedAt)
    } catch (error) {
      const isLate = error instanceof ApiError && error.code === 'REQUEST_FINISHED'
      if (!isLate) throw error
    }
  }

  /** Records a status; returns whether it is final. */
  #see(
    ask: Ask,
    { status, error }: Awaited<ReturnType<Client['status']>>,
    askedAt: number,
  ): boolean {
    ask.statuses.push({ askedAt, at: this.#options.now(), status, code: error?.code })
    return isEnd(status)
  }

  async #fetchResult(
    ask: Ask,
    requestId: string,
    { account, seconds }: AskOptions & { seconds: number },
  ): Promise<void> {
    const { service, random } = this.#options
    const result = await service.persistently(account, (client) => client.result(requestId))
    const { quantity } = result.usage
    if (quantity !== ask.cost) ask.damage = `it cost ${quantity} s instead of ${ask.cost}`
    if (random() > 0.3) return
    const target = await service.persistently(account, async (client) => {
      const reply = await client.open(result.data.target.url)
      return Buffer.from(await reply.arrayBuffer())
    })
    const samples = readWav24(target).planes[0]?.length
    const expected = Math.round(seconds * SAMPLE_RATE)
    if (samples !== expected) ask.damage = `its target has ${samples} samples, not ${expected}`
  }
}

/** Sends half of a file, then hangs up. */
async function breakOff({ upload_url: url, headers }: CreatedFile, bytes: Buffer): Promise<void> {
  const sending = httpRequest(url, {
    method: 'PUT',
    headers: { ...headers, 'content-length': bytes.length },
    agent: false,
  })
  sending.on('error', () => undefined)
  await new Promise<void>((resolve) => {
    sending.write(bytes.subarray(0, bytes.length / 2), () => resolve())
    sending.once('close', resolve)
  })
  sending.destroy()
}
