/** What clients and receivers saw in a campaign; times are in milliseconds since its start. */

export interface SeenStatus {
  /** The answer reflects a state between `askedAt` and `at`. */
  askedAt: number
  at: number
  status: string
  code: string | undefined
}

/** One submission of a client; its prompt and its metadata carry its number. */
export interface Ask {
  number: number
  account: string
  submittedAt: number
  hasWebhook: boolean
  /** Ids from all 202 answers. */
  requestIds: string[]
  /** Whether an attempt got no answer, so that the request may exist. */
  isUncertain: boolean
  /** Error code of its final refusal. */
  refusal: string | undefined
  isCanceled: boolean
  /** In the order of the answers. */
  statuses: SeenStatus[]
  /** Seconds charged when it completes. */
  cost: number
  /** What is wrong with its outputs. */
  damage: string | undefined
}

export interface Webhook {
  at: number
  id: string
  requestId: string
  body: string
  isSigned: boolean
  /** Status of the receiver's answer; undefined if it gave none. */
  answered: number | undefined
}

/** A fault that was injected. */
export interface DoneFault {
  kind: string
  /** Its target, for readers. */
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
  /** Answers that no client should see, such as a 404 for a resource just created. */
  surprises: string[]
  /** Calls that succeeded with a key whose revocation had been confirmed. */
  revokedKeysUsed: string[]
}

/** An account as the API reports it after the campaign. */
export interface AccountAtTheEnd {
  name: string
  isMetered: boolean
  /** Seconds credited so far. */
  credited: number
  balance: number
  reserved: number
  requests: ListedRequest[]
}

export interface ListedRequest {
  requestId: string
  /** Number of the `Ask`. */
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
