/** Tensors that are made once and remembered, the latest used ones of them. */
import type { Tensor } from './tensor.ts'

export class TensorCache {
  readonly #sizeMax: number
  /** From the least to the most recently used. */
  readonly #remembered = new Map<string, Tensor>()

  /** @param sizeMax how many are remembered */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  /** What `make` made for this name; the caller frees its copy, which costs no memory. */
  get(name: string, make: () => Tensor): Tensor {
    const tensor = this.#remembered.get(name) ?? make()
    this.#remembered.delete(name)
    this.#remembered.set(name, tensor)
    if (this.#remembered.size > this.#sizeMax) this.#forgetOldest()
    return tensor.clone()
  }

  #forgetOldest(): void {
    const [oldest] = this.#remembered
    if (!oldest) return
    const [name, tensor] = oldest
    tensor.dispose()
    this.#remembered.delete(name)
  }
}
