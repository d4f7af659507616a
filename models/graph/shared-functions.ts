/** Functions of the native library, each shared by all identical graphs. */
import { native } from '../tensorflow/tensor.ts'

export class SharedFunctions {
  /** How many users each has, by name. */
  readonly #users = new Map<string, number>()

  /**
   * @param make registers the function with the native library, if it is not there yet
   * @returns a function to call once, which frees the function if this was its last user
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
