/**
 * Returns `original` with some members replaced. Its methods still run on the original, so private
 * fields keep working.
 */
export const instead = <T extends object>(original: T, replaced: Partial<T>): T =>
  new Proxy(original, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof T]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
