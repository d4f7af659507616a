import type { Broker, JobQueue } from '../../../shared/broker/broker.ts'
import type { Job } from '../../../shared/messages.ts'

type Handle = (requestId: string) => void

/**
 * A job queue in memory that, like the real broker, assigns increasing sequence numbers and drops
 * repeated message ids.
 */
export class MemoryBroker implements Pick<
  Broker,
  'publishJob' | 'removeJob' | 'hasJob' | 'isConnected' | 'problem'
> {
  readonly jobs = new Map<number, Job>()
  /** The queue that the latest job of each request was published to. */
  readonly queues = new Map<string, JobQueue | undefined>()
  connected = true
  /** Number of calls of publishJob, including repeated ones. */
  published = 0
  readonly #followers = new Set<Handle>()
  #sequences = new Map<string, number>()

  async publishJob(job: Job, messageId: string, queue?: JobQueue): Promise<number> {
    this.#assertConnected()
    this.published += 1
    this.queues.set(job.request_id, queue)
    const earlier = this.#sequences.get(messageId)
    if (earlier !== undefined) return earlier
    const sequence = this.#sequences.size + 1
    this.#sequences.set(messageId, sequence)
    this.jobs.set(sequence, job)
    return sequence
  }

  async removeJob(requestId: string, sequence: number): Promise<boolean> {
    return (await this.hasJob(requestId, sequence)) && this.jobs.delete(sequence)
  }

  async hasJob(requestId: string, sequence: number): Promise<boolean> {
    this.#assertConnected()
    return this.jobs.get(sequence)?.request_id === requestId
  }

  /** Connects another gateway. A change that one gateway publishes reaches all the others. */
  connect(handle: Handle) {
    this.#followers.add(handle)
    return {
      publishJob: (...args: Parameters<MemoryBroker['publishJob']>) => this.publishJob(...args),
      removeJob: (requestId: string, sequence: number) => this.removeJob(requestId, sequence),
      hasJob: (requestId: string, sequence: number) => this.hasJob(requestId, sequence),
      isConnected: () => this.connected,
      problem: () => this.problem(),
      publishChange: (requestId: string) => {
        const others = [...this.#followers].filter((follower) => follower !== handle)
        if (this.connected) for (const notify of others) notify(requestId)
      },
    }
  }

  isConnected(): boolean {
    return this.connected
  }

  problem(): string | null {
    return this.connected ? null : 'The broker is away.'
  }

  /** Returns the job of a request, as an engine would lease it. */
  jobOf(requestId: string): Job {
    const job = [...this.jobs.values()].find((job) => job.request_id === requestId)
    if (!job) throw new Error(`no job for ${requestId}`)
    return job
  }

  #assertConnected(): void {
    if (!this.connected) throw new Error('not connected')
  }
}
