/** `original` with some of its members replaced; its own private state stays its own. */
export const instead = <T extends object>(original: T, replaced: Partial<T>): T =>
  new Proxy(original, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof T]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
