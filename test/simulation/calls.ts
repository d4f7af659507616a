/** Calls across process boundaries, where each may be late, fail, or end in a crash. */

import type { Choices } from './choices.ts'
import { never, type Process, type Scheduler } from './scheduler.ts'

/**
 * Faults of a call. `fails`: it has no effect; `unanswered`: it takes effect, but fails for the caller;
 * `late` and `slow`: it takes long, or very long; `crash`: the caller dies before or after the effect.
 */
export type CallFault = 'fails' | 'unanswered' | 'late' | 'slow' | 'crash before' | 'crash after'
export const CALL_FAULTS: readonly CallFault[] = [
  'fails',
  'unanswered',
  'late',
  'slow',
  'crash before',
  'crash after',
]

const FAULTS_OF_IMMORTALS = CALL_FAULTS.filter((fault) => !fault.startsWith('crash'))

export const faultsOf = ({ isMortal }: Process): readonly CallFault[] =>
  isMortal ? CALL_FAULTS : FAULTS_OF_IMMORTALS

const LATENCY_MS = [0.1, 20] as const
const LATE_MS = [20, 1_500] as const
const SLOW_MS = [1_500, 45_000] as const

export class Unreachable extends Error {
  override name = 'Unreachable'
}

export class Calls {
  readonly scheduler: Scheduler
  readonly choices: Choices

  constructor(scheduler: Scheduler, choices: Choices) {
    this.scheduler = scheduler
    this.choices = choices
  }

  /** Returns how many milliseconds one way takes. */
  latency(place: string, fault?: CallFault): number {
    const [least, most] = fault === 'slow' ? SLOW_MS : fault === 'late' ? LATE_MS : LATENCY_MS
    return this.choices.between(`${place} latency`, least, most)
  }

  /**
   * Calls something that never dies, such as the broker. The effect happens in the world, whether or not
   * the caller lives to see it.
   */
  toWorld<T>(caller: Process, name: string, effect: () => T): Promise<T> {
    if (!caller.alive) return never()
    const place = `${caller.name} ${name}`
    const fault = this.choices.fault(place, faultsOf(caller))
    if (fault === 'crash before') {
      caller.kill()
      return never()
    }
    const oneWayMs = this.latency(place, fault)
    return new Promise((resolve, reject) => {
      const answer = (label: string, give: () => void) =>
        this.scheduler.schedule(caller, oneWayMs, label, give)
      const refuse = () =>
        answer(`${place} failed`, () => reject(new Unreachable(`${name} failed`)))
      if (fault === 'fails') return void refuse()
      this.scheduler.schedule(this.scheduler.world, oneWayMs, place, () => {
        let value: T
        try {
          value = effect()
        } catch (error) {
          return void answer(`${place} refused`, () => reject(error as Error))
        }
        if (fault === 'crash after') return caller.kill()
        if (fault === 'unanswered') return void refuse()
        answer(`${place} answered`, () => resolve(value))
      })
    })
  }

  /** Sends a message that gets no answer and may be lost. */
  tell(caller: Process, name: string, receiver: Process, effect: () => void): void {
    if (!caller.alive) return
    const place = `${caller.name} ${name}`
    if (this.choices.fault(place, ['lost'])) return
    this.scheduler.schedule(receiver, this.latency(place), place, effect)
  }

  /** Calls another process, which does `work`. The call fails if that process dies. */
  toProcess<T>(
    caller: Process,
    callee: Process | undefined,
    name: string,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!caller.alive) return never()
    const place = `${caller.name} ${name}`
    const fault = this.choices.fault(place, faultsOf(caller))
    if (fault === 'crash before') {
      caller.kill()
      return never()
    }
    const oneWayMs = this.latency(place, fault)
    const { scheduler } = this
    return new Promise((resolve, reject) => {
      let isOver = false
      const answer = (label: string, give: () => void) => {
        if (isOver) return
        isOver = true
        scheduler.schedule(caller, oneWayMs, `${place} ${label}`, give)
      }
      const breakOff = () => answer('broken', () => reject(new Unreachable(`${name} broke off`)))
      if (fault === 'fails' || !callee?.alive) return breakOff()
      const forget = callee.onDeath(breakOff)
      scheduler.schedule(callee, oneWayMs, place, () => {
        work()
          .then(
            (value) => {
              if (fault === 'crash after') caller.kill()
              if (fault === 'unanswered') breakOff()
              else answer('answered', () => resolve(value))
            },
            (error: Error) => answer('refused', () => reject(error)),
          )
          .finally(forget)
      })
    })
  }
}
