/** Chooses which of several accounts that share some slots is next. */

/** An account's slots in use, and its last turn. */
export interface Share {
  inHand: number
  /** Number of its last turn, counted over all turns; 0 if it had none yet. */
  lastTurn: number
}

const NOTHING: Share = { inHand: 0, lastTurn: 0 }

/**
 * Returns the account in `waiting` that may take a slot now: the one with the fewest slots or, if
 * several have as few, the one whose last turn was longest ago. An account may take a slot only
 * while more are free than it holds. So one account alone gets half of the slots, n accounts get
 * 1/(n + 1) each, and one slot is left for a new account. Undefined if none may.
 */
export function nextAccount(
  waiting: Iterable<string>,
  shares: ReadonlyMap<string, Share>,
  slots: number,
): string | undefined {
  let free = slots
  for (const { inHand } of shares.values()) free -= inHand
  let best: { account: string; share: Share } | undefined
  for (const account of waiting) {
    const share = shares.get(account) ?? NOTHING
    if (share.inHand < free && (!best || isBefore(share, best.share))) best = { account, share }
  }
  return best?.account
}

const isBefore = (a: Share, b: Share): boolean =>
  a.inHand < b.inHand || (a.inHand === b.inHand && a.lastTurn < b.lastTurn)

/** The shares of a number of slots; there are at most as many accounts as the admin has created. */
export class FairShare {
  readonly #slots: number
  readonly #shares = new Map<string, Share>()
  #turns = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  /** Returns the account in `waiting` that may take a slot now, if any. */
  next(waiting: Iterable<string>): string | undefined {
    return nextAccount(waiting, this.#shares, this.#slots)
  }

  take(account: string): void {
    const { inHand } = this.#shares.get(account) ?? NOTHING
    this.#turns += 1
    this.#shares.set(account, { inHand: inHand + 1, lastTurn: this.#turns })
  }

  release(account: string): void {
    const share = this.#shares.get(account)
    if (share) this.#shares.set(account, { ...share, inHand: share.inHand - 1 })
  }

  get isIdle(): boolean {
    return [...this.#shares.values()].every(({ inHand }) => inHand === 0)
  }
}

/** The same number of slots at each of many places, such as hosts, shared separately at each. */
export class FairShares {
  readonly #slots: number
  readonly #places = new Map<string, FairShare>()

  constructor(slots: number) {
    this.#slots = slots
  }

  /** Takes a slot at `place`; returns false if the account may not have another there now. */
  take(place: string, account: string): boolean {
    const share = this.#places.get(place) ?? new FairShare(this.#slots)
    if (share.next([account]) === undefined) return false
    share.take(account)
    this.#places.set(place, share)
    return true
  }

  release(place: string, account: string): void {
    const share = this.#places.get(place)
    share?.release(account)
    if (share?.isIdle) this.#places.delete(place)
  }

  /** Returns the places that have no slot for the account now. */
  saturatedPlaces(account: string): string[] {
    return [...this.#places].flatMap(([place, share]) =>
      share.next([account]) === undefined ? [place] : [],
    )
  }
}
