import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Admin } from '../../state/admin.ts'

interface Polled<Answer> {
  /** The latest answer; null until there is one. */
  answer: Answer | null
  /** Why the latest call failed; empty if it did not. */
  problem: string
}

/** Polls a path of the admin API while the component is mounted. */
export const usePath = <Answer>(admin: Admin, path: string, intervalMs: number): Polled<Answer> =>
  usePolled(
    useCallback(() => admin.read<Answer>(path), [admin, path]),
    intervalMs,
  )

/**
 * Calls `read` again `intervalMs` after each call has ended, while the component is mounted.
 * @param read a new function is called at once; null if there is nothing to read
 */
export function usePolled<Answer>(
  read: (() => Promise<Answer>) | null,
  intervalMs: number,
): Polled<Answer> {
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (read === null) {
      setAnswer(null)
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
            setAnswer(next)
            setProblem('')
          },
          (error: Error) => setProblem(error.message),
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
  return { answer, problem }
}
