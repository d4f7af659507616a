import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Admin } from '../../state/admin.ts'

interface Polled<Data> {
  /** The latest data; null until there is one. */
  data: Data | null
  /** Why the latest call failed; empty if it did not. */
  problem: string
}

/** Polls a path of the admin API while the component is mounted. */
export const usePath = <Data>(admin: Admin, path: string, intervalMs: number): Polled<Data> =>
  usePolled(
    useCallback(() => admin.read<Data>(path), [admin, path]),
    intervalMs,
  )

/**
 * Calls `read` again `intervalMs` after each call has ended, while the component is mounted.
 * @param read a new function is called at once; null if there is nothing to read
 */
export function usePolled<Data>(
  read: (() => Promise<Data>) | null,
  intervalMs: number,
): Polled<Data> {
  const [data, setData] = useState<Data | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (read === null) {
      setData(null)
      return undefined
    }
    setProblem('')
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const refresh = () =>
      read()
        .then(
          (next) => {
            if (isOver) return
            setData(next)
            setProblem('')
          },
          (error: Error) => {
            if (!isOver) setProblem(error.message)
          },
        )
        .finally(() => {
          if (!isOver) timer = setTimeout(() => void refresh(), intervalMs)
        })
    void refresh()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [read])
  return { data, problem }
}
