/**
 * An in-memory broker that fails its users as JetStream can: it redelivers, reorders and duplicates
 * messages, stores without answering, answers without storing, and loses everything. Like JetStream,
 * it doesn't fence off the previous holder of a lease.
 */

import type { Broker, DeadLetter, JobQueue, Lease } from '../../shared/broker/interface.ts'
import type { EngineAnnouncement, Event, Job, Progress } from '../../shared/messages.ts'
import { JOB_QUEUE_NAMES } from '../../shared/broker/streams.ts'
import { BrokerStream, type Message } from './broker-stream.ts'
import { Unreachable, type Calls } from './calls.ts'
import { never, type Process } from './scheduler.ts'

export const LEASE_SECONDS = 30
const EVENT_ACK_WAIT_MS = 30_000
const EVENT_QUEUE = 'events'
/** Pause before an event that could not be handled is redelivered; doubles each time. */
const RETRY_MS = { least: 1_000, most: 60_000 }
/** A loss may be noticed at once, or only at the next call that needs the stream. */
const LOSS_NOTICED_MS = [10, 90_000] as const

interface Pull {
  owner: Process
  queue: JobQueue
  /** Whether it takes no more deliveries. */
  isOver: boolean
  isAnswered: boolean
  give(lease: Lease | null): void
}

interface Follower {
  owner: Process
  inbox: Message<Event>[]
  isBusy: boolean
  handle: (event: Event) => Promise<void>
}

interface Gateway {
  owner: Process
  onStreamsLost?: () => void
  letters?: (letter: DeadLetter) => Promise<void>
  progress?: (progress: Progress) => void
  changes?: (requestId: string) => void
  announcements?: (announcement: EngineAnnouncement) => void
}

/** Events that report the outcome of an attempt. */
const OUTCOMES: readonly Event['type'][] = ['completed', 'failed', 'released']

export class MemoryJetStream {
  readonly jobs: BrokerStream<Job>
  readonly events: BrokerStream<Event>
  /** Whether the broker is unreachable. */
  away = false
  /** Called when an engine acknowledges a job without a stored outcome of its attempt. */
  onEarlyAck: (job: Job) => void = () => undefined
  /** Called when a gateway acknowledges an event, and thereby claims to have applied it. */
  onEventAck: (event: Event) => void = () => undefined
  /** Number of dead letters not handled yet. */
  letters = 0
  readonly #calls: Calls
  #pulls: Pull[] = []
  #followers: Follower[] = []
  #gateways: Gateway[] = []
  #attempts = 0
  /** Attempts whose outcome has been stored. */
  readonly #reported = new Set<string>()

  constructor(calls: Calls) {
    this.#calls = calls
    const common = { scheduler: calls.scheduler, choices: calls.choices }
    this.jobs = new BrokerStream({
      ...common,
      name: 'JOBS',
      ackWaitMs: LEASE_SECONDS * 1_000,
      deliveriesMax: 6,
      onReady: (queue) => this.#offerJobs(queue as JobQueue),
      onExhausted: (message) => this.#bury('JOBS', message.sequence, message.body),
    })
    this.events = new BrokerStream({
      ...common,
      name: 'EVENTS',
      ackWaitMs: EVENT_ACK_WAIT_MS,
      deliveriesMax: 64,
      onReady: () => this.#offerEvents(),
      onExhausted: (message) => this.#bury('EVENTS', message.sequence, message.body),
    })
  }

  /** Loses everything it stores. The gateways notice after a while. */
  loseAll(): void {
    this.jobs.lose()
    this.events.lose()
    for (const { owner, onStreamsLost } of this.#alive(this.#gateways)) {
      const ms = this.#calls.choices.between(`${owner.name} notices loss`, ...LOSS_NOTICED_MS)
      this.#calls.scheduler.schedule(owner, ms, `${owner.name} streams lost`, () =>
        onStreamsLost?.(),
      )
    }
  }

  /** Makes the broker reachable again. */
  back(): void {
    this.away = false
    for (const queue of JOB_QUEUE_NAMES) this.#offerJobs(queue)
    this.#offerEvents()
  }

  /** Returns the broker as `owner` sees it. */
  connect(owner: Process): Broker {
    const gateway: Gateway = { owner }
    const call = <T>(name: string, effect: () => T) =>
      this.#calls.toWorld(owner, name, () => {
        if (this.away) throw new Unreachable('the broker is away')
        return effect()
      })
    const stop = async () => undefined
    return {
      problem: () => null,
      publishJob: (job, id, queue = 'first') =>
        call('publish job', () => this.jobs.add(copy(job), id, queue)),
      removeJob: (requestId, sequence) =>
        call('remove job', () => this.#hasJob(requestId, sequence) && this.jobs.remove(sequence)),
      hasJob: (requestId, sequence) => call('has job', () => this.#hasJob(requestId, sequence)),
      leaseJob: (waitMs, queue = 'first') => this.#pull(owner, waitMs, queue),
      publishEvent: (event) =>
        call(`publish ${event.type}`, () => {
          if (OUTCOMES.includes(event.type)) this.#reported.add(event.attempt_id)
          this.events.add(copy(event), `${event.attempt_id}:${event.type}`, EVENT_QUEUE)
        }),
      followEvents: async (handle) => this.#follow(owner, handle),
      followDeadLetters: async (handle) => {
        gateway.letters = handle
        return stop
      },
      publishProgress: (progress) =>
        this.#broadcast(owner, 'progress', (each) => each.progress?.(progress)),
      followProgress(handle) {
        gateway.progress = handle
        return stop
      },
      publishChange: (id) => this.#broadcast(owner, 'change', (each) => each.changes?.(id)),
      followChanges(handle) {
        gateway.changes = handle
        return stop
      },
      announceEngine: (engine) =>
        this.#broadcast(owner, 'announcement', (each) => each.announcements?.(engine)),
      followAnnouncements(handle) {
        gateway.announcements = handle
        return stop
      },
      followLosses: (handle) => {
        gateway.onStreamsLost = handle
        this.#gateways.push(gateway)
      },
      isConnected: () => !this.away,
      closed: () => never(),
      close: stop,
    }
  }

  #alive<T extends { owner: Process }>(all: readonly T[]): T[] {
    return all.filter(({ owner }) => owner.alive)
  }

  #hasJob(requestId: string, sequence: number): boolean {
    return this.jobs.get(sequence)?.body.request_id === requestId
  }

  #broadcast(owner: Process, name: string, give: (gateway: Gateway) => void): void {
    this.#gateways = this.#alive(this.#gateways)
    if (this.away) return
    for (const gateway of this.#gateways) {
      if (gateway.owner !== owner) this.#calls.tell(owner, name, gateway.owner, () => give(gateway))
    }
  }

  async #pull(owner: Process, waitMs: number, queue: JobQueue): Promise<Lease | null> {
    const opened = await this.#calls.toWorld(owner, 'lease job', () => {
      if (this.away) throw new Unreachable('the broker is away')
      return this.#open(owner, waitMs, queue)
    })
    return opened.lease
  }

  /** Wraps the promise in an object, because `toWorld` would otherwise await it. */
  #open(owner: Process, waitMs: number, queue: JobQueue): { lease: Promise<Lease | null> } {
    const { scheduler } = this.#calls
    const lease = new Promise<Lease | null>((resolve) => {
      const pull: Pull = {
        owner,
        queue,
        isOver: false,
        isAnswered: false,
        give: (given) => {
          pull.isOver = pull.isAnswered = true
          const ms = this.#calls.latency(`${owner.name} lease`)
          const what = given ? `lease of ${given.job.request_id}` : 'no job'
          scheduler.schedule(owner, ms, `${owner.name} ${what}`, () => resolve(given))
        },
      }
      this.#pulls.push(pull)
      // The server may answer late too, so an idle engine polls less often than `waitMs` suggests.
      scheduler.schedule(scheduler.world, 5 * waitMs, `${owner.name} pull over`, () => {
        if (!pull.isAnswered) pull.give(null)
      })
    })
    this.#offerJobs(queue)
    return { lease }
  }

  #offerJobs(queue: JobQueue): void {
    this.#pulls = this.#pulls.filter((pull) => !pull.isOver && pull.owner.alive)
    for (const pull of this.#pulls) {
      if (pull.queue !== queue) continue
      const message = this.jobs.take(queue)
      if (!message) return
      if (this.#calls.choices.fault('JOBS', ['lost on the way'])) pull.isOver = true
      else pull.give(this.#leaseOf(pull.owner, message))
    }
  }

  #leaseOf(owner: Process, { sequence, body, deliveries }: Message<Job>): Lease {
    const attemptId = `attempt-${(this.#attempts += 1)}`
    const job = copy(body)
    return {
      job,
      attemptId,
      deliveries,
      heartbeat: () =>
        this.#calls.tell(owner, 'heartbeat', this.#calls.scheduler.world, () =>
          this.jobs.working(sequence),
        ),
      ack: () =>
        this.#calls.toWorld(owner, 'ack', () => {
          if (this.away) throw new Unreachable('the broker is away')
          if (!this.#reported.has(attemptId)) this.onEarlyAck(job)
          this.jobs.remove(sequence)
        }),
      nak: (delayMs) =>
        this.#calls.tell(owner, 'nak', this.#calls.scheduler.world, () =>
          this.jobs.giveBack(sequence, delayMs),
        ),
    }
  }

  #follow(owner: Process, handle: (event: Event) => Promise<void>) {
    const follower: Follower = { owner, handle, inbox: [], isBusy: false }
    this.#followers.push(follower)
    this.#offerEvents()
    return async () => {
      this.#followers = this.#followers.filter((each) => each !== follower)
    }
  }

  #offerEvents(): void {
    this.#followers = this.#alive(this.#followers)
    if (this.#followers.length === 0 || this.away) return
    for (let left = this.events.size; left > 0; left -= 1) {
      const message = this.events.take(EVENT_QUEUE)
      if (!message) return
      const follower = this.#calls.choices.pick('EVENTS follower', this.#followers)
      const { owner } = follower
      this.#calls.tell(this.#calls.scheduler.world, 'event', owner, () => {
        follower.inbox.push(message)
        void this.#handleInbox(follower)
      })
    }
  }

  async #handleInbox(follower: Follower): Promise<void> {
    if (follower.isBusy) return
    follower.isBusy = true
    for (let message = follower.inbox.shift(); message; message = follower.inbox.shift()) {
      const { sequence, body, deliveries } = message
      const answer = (name: string, effect: () => void) =>
        this.#calls.tell(follower.owner, name, this.#calls.scheduler.world, effect)
      try {
        await follower.handle(copy(body))
        answer('event ack', () => {
          if (this.events.remove(sequence)) this.onEventAck(body)
        })
      } catch {
        const restMs = Math.min(RETRY_MS.least * 2 ** (deliveries - 1), RETRY_MS.most)
        answer('event nak', () => this.events.giveBack(sequence, restMs))
      }
    }
    follower.isBusy = false
  }

  #bury(stream: string, sequence: number, body: Job | Event): void {
    const event = 'type' in body ? { attempt_id: body.attempt_id, type: body.type } : {}
    const letter: DeadLetter = { stream, sequence, request_id: body.request_id, ...event }
    this.letters += 1
    this.#handOver(letter, 1)
  }

  #handOver(letter: DeadLetter, tries: number): void {
    const { scheduler } = this.#calls
    const again = (ms: number) =>
      scheduler.schedule(scheduler.world, ms, 'dead letter again', () =>
        this.#handOver(letter, tries + 1),
      )
    const [gateway] = this.#alive(this.#gateways).filter((each) => each.letters)
    if (!gateway) return void again(RETRY_MS.least)
    let isOver = false
    const end = (isHandled: boolean) => {
      if (isOver) return
      isOver = true
      if (isHandled) this.letters -= 1
      else again(RETRY_MS.least * tries)
    }
    gateway.owner.onDeath(() => end(false))
    scheduler.schedule(gateway.owner, 1, `${gateway.owner.name} dead letter`, () => {
      gateway.letters!(letter).then(
        () => end(true),
        () => end(false),
      )
    })
  }
}

const copy = <T>(message: T): T => JSON.parse(JSON.stringify(message)) as T
