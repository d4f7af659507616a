/** Explains, in a sentence for the caller, why a model was not loaded or unloaded. */
export class ModelRefusal extends Error {
  override name = 'ModelRefusal'
  readonly status: 'NOT_FOUND' | 'FAILED_PRECONDITION'

  constructor(status: ModelRefusal['status'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}
