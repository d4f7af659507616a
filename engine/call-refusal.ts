/** Refuses a call to the control server. The message is a sentence for the caller. */
export class CallRefusal extends Error {
  override name = 'CallRefusal'
  readonly status: 'NOT_FOUND' | 'FAILED_PRECONDITION' | 'INVALID_ARGUMENT'

  constructor(status: CallRefusal['status'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}
