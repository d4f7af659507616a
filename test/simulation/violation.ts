/** A violated invariant. */
export class Violation extends Error {
  readonly invariant: string

  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`)
    this.name = 'Violation'
    this.invariant = invariant
  }
}
