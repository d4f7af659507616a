/** Why a model was not loaded or unloaded, as a sentence for whoever asked. */
export class ModelRefusal extends Error {
  override name = 'ModelRefusal'
  readonly status: 'NOT_FOUND' | 'FAILED_PRECONDITION'

  constructor(status: ModelRefusal['status'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}
