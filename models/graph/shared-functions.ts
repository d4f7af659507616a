/** The native library's functions, each shared by all graphs that do the same. */
import { native } from '../tensorflow/tensor.ts'

export class SharedFunctions {
  /** Counts of their users, by name. */
  readonly #users = new Map<string, number>()

  /**
   * @param make adds the function to the native library; called where it is not there
   * @returns to be called once: frees the function with its last user
   */
  hold(name: string, make: () => void = () => {}): () => void {
    if (!this.#users.has(name)) make()
    this.#add(name, 1)
    return () => this.#add(name, -1)
  }

  #add(name: string, count: number): void {
    const users = (this.#users.get(name) ?? 0) + count
    this.#users.set(name, users)
    if (users > 0) return
    this.#users.delete(name)
    native.binding.removeFunction(name)
  }
}
