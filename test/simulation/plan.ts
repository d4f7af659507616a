/** Plans a run's actions of clients and admins, and its misfortunes: a function of the seed. */

import type { Priority } from '../../shared/priority.ts'
import type { Choices, Rates } from './choices.ts'

export const ACCOUNTS = ['acct_free', 'acct_paid', 'acct_poor'] as const
/** Opening balances, in seconds, of the accounts that are charged. */
export const CREDITS: Readonly<Record<string, number>> = { acct_paid: 1_000, acct_poor: 60 }

export type Action = { id: number; at: number } & (
  | {
      do: 'submit'
      account: string
      /** The number of an uploaded file or of a URL. */
      source: { file: number } | { url: number }
      prompts: number
      priority: Priority
      hasWebhook: boolean
      /** Whether it has an idempotency key, and is therefore retried until it is answered. */
      hasKey: boolean
      /** Whether it is sent twice at once, possibly to two gateways. */
      isSentTwice: boolean
    }
  | { do: 'cancel' | 'redeliver' | 'read'; of: number }
  | { do: 'credit'; account: string; seconds: number }
  | { do: 'kill' | 'restart'; process: string }
  | { do: 'broker lost' }
  | { do: 'broker away' | 'database away' | 'disk away'; ms: number }
  | { do: 'clock jumps'; ms: number }
  | { do: 'receiver answers'; account: string; status: number; ms: number }
)

/** Kinds of faults with their rates. A run picks one rate per kind; many are 0, so many runs lack a kind. */
const RATES: Readonly<Record<string, readonly number[]>> = {
  fails: [0, 0.02, 0.06, 0.15],
  unanswered: [0, 0.02, 0.06, 0.15],
  late: [0, 0.1, 0.3, 0.5],
  slow: [0, 0.005, 0.02],
  stalls: [0, 0, 0.001, 0.003],
  'crash before': [0, 0.0005, 0.002, 0.008],
  'crash after': [0, 0.0005, 0.002, 0.008],
  lost: [0, 0.05, 0.2, 0.4],
  'stored and lost': [0, 0.02, 0.1],
  reordered: [0, 0.2, 0.6],
  'delivered twice': [0, 0.2, 0.5],
  'lost on the way': [0, 0.05, 0.3],
  'model fails': [0, 0, 0.01],
  'device fails': [0, 0.01, 0.05],
  'no memory': [0, 0.05],
  'compute lost': [0, 0.01, 0.04],
  hangs: [0, 0, 0.02],
  'answers 500': [0, 0.3, 0.7],
  'answers 410': [0, 0, 0.05],
}

export function ratesOf(choices: Choices): Rates {
  const kinds = Object.entries(RATES)
  return Object.fromEntries(
    kinds.map(([kind, rates]) => [kind, choices.pick(`rate of ${kind}`, rates)]),
  )
}

export interface Plan {
  /** Length of the plan in milliseconds; no action comes later. */
  lengthMs: number
  actions: Action[]
}

export function planOf(choices: Choices, processes: readonly string[]): Plan {
  const lengthMs = choices.between('plan length', 5_000, 40_000)
  const clientActions = Math.floor(choices.between('plan client actions', 10, 60))
  const misfortunes = Math.floor(choices.between('plan misfortunes', 0, 12))
  const actions: Action[] = []
  const submits: Action[] = []
  for (let id = 0; id < clientActions + misfortunes; id += 1) {
    const actionFields =
      id < clientActions ? clientAction(choices, submits) : misfortune(choices, processes)
    const from =
      'of' in actionFields ? submits.find((submit) => submit.id === actionFields.of)!.at : 0
    const at = choices.between('plan time', from, Math.max(from, lengthMs))
    const action = { id, at, ...actionFields } as Action
    if (action.do === 'submit') submits.push(action)
    actions.push(action)
  }
  return { lengthMs, actions }
}

type ActionFields = Action extends infer A
  ? A extends Action
    ? Omit<A, 'id' | 'at'>
    : never
  : never

function clientAction(choices: Choices, submits: readonly Action[]): ActionFields {
  const kind = choices.random('plan kind')
  const account = choices.pick('plan account', ACCOUNTS)
  const isLikely = (what: string, share: number) => choices.random(`plan ${what}`) < share
  if (submits.length === 0 || kind < 0.6) {
    const number = Math.floor(choices.between('plan source', 0, 8))
    return {
      do: 'submit',
      account,
      source: isLikely('url', 0.2) ? { url: number } : { file: number },
      prompts: isLikely('prompts', 0.2) ? 2 : 1,
      priority: isLikely('batch', 0.3) ? 'batch' : 'interactive',
      hasWebhook: isLikely('webhook', 0.7),
      hasKey: isLikely('key', 0.7),
      isSentTwice: isLikely('twice', 0.2),
    }
  }
  if (kind < 0.65) {
    return { do: 'credit', account, seconds: Math.floor(choices.between('plan seconds', 1, 60)) }
  }
  const { id: of } = choices.pick('plan of', submits)
  if (kind < 0.78) return { do: 'cancel', of }
  return kind < 0.86 ? { do: 'redeliver', of } : { do: 'read', of }
}

const MINUTE = 60_000

function misfortune(choices: Choices, processes: readonly string[]): ActionFields {
  const process = choices.pick('plan process', processes)
  const ms = choices.between('plan ms', 100, 40_000)
  const kinds = [
    () => ({ do: 'kill', process }) as const,
    () => ({ do: 'restart', process }) as const,
    () => ({ do: 'broker lost' }) as const,
    () => ({ do: 'broker away', ms }) as const,
    () => ({ do: 'database away', ms }) as const,
    () => ({ do: 'disk away', ms }) as const,
    () => {
      const jumps = [-3_000, MINUTE, 60 * MINUTE, 26 * 60 * MINUTE, 26 * 60 * MINUTE]
      return { do: 'clock jumps', ms: choices.pick('plan jump', jumps) } as const
    },
    () => {
      const account = choices.pick('plan receiver', ACCOUNTS)
      const status = choices.pick('plan answer', [500, 500, 503, 302, 410])
      return { do: 'receiver answers', account, status, ms } as const
    },
  ]
  return choices.pick('plan misfortune', kinds)()
}

/** Describes an action for readers. */
export function describeAction({ id, at, ...rest }: Action): string {
  const { do: what, ...fields } = rest
  return `${what} ${JSON.stringify(fields)} (action ${id}, at ${Math.round(at)} ms)`
}

export const nameOfAction = ({ id, do: what }: Action): string => `action ${id}: ${what}`
