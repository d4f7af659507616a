/** Records what clients and receivers saw in a campaign, in milliseconds since its start. */

export interface SeenStatus {
  /** An answer reflects the time between these. */
  askedAt: number
  at: number
  status: string
  code: string | undefined
}

/** One thing that a client wanted separated; its number goes with it, as prompt and metadata. */
export interface Ask {
  number: number
  account: string
  submittedAt: number
  hasWebhook: boolean
  /** Ids of every 202 answer. */
  requestIds: string[]
  /** A try had no answer: the request may exist. */
  isUncertain: boolean
  /** Why it was refused for good. */
  refusal: string | undefined
  isCanceled: boolean
  /** In the order in which they were answered. */
  statuses: SeenStatus[]
  /** Seconds that it costs when it completes. */
  cost: number
  /** Problem with its outputs. */
  damage: string | undefined
}

export interface Webhook {
  at: number
  id: string
  requestId: string
  body: string
  isSigned: boolean
  /** Undefined: none was given. */
  answered: number | undefined
}

/** How a fault went. */
export interface DoneFault {
  kind: string
  /** Its target, for people. */
  target: string
  beganAt: number
  endedAt: number
}

export interface History {
  asks: Ask[]
  webhooks: Webhook[]
  faults: DoneFault[]
  /** Processes that ended unasked. */
  deaths: string[]
  /** Answers that no client may see, such as 404 for a resource just made. */
  surprises: string[]
  /** Calls with a revoked key, made after the revocation was answered, and answered with success. */
  revokedKeysUsed: string[]
}

/** The service's data of an account once all is over. */
export interface AccountAtTheEnd {
  name: string
  isMetered: boolean
  /** Seconds that were credited. */
  credited: number
  balance: number
  reserved: number
  requests: ListedRequest[]
}

export interface ListedRequest {
  requestId: string
  /** The number of the ask. */
  number: number
  status: string
  code: string | undefined
  delivery: string | undefined
}

export const newHistory = (): History => ({
  asks: [],
  webhooks: [],
  faults: [],
  deaths: [],
  surprises: [],
  revokedKeysUsed: [],
})

export const isEnd = (status: string): boolean => status === 'COMPLETED' || status === 'FAILED'
