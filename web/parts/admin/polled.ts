import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Admin } from '../../state/admin.ts'

interface Polled<Answer> {
  /** The latest answer; null until there is one. */
  answer: Answer | null
  /** Why the latest read failed; empty if it did not. */
  problem: string
}

/** Reads a path of the admin API again and again, as long as it is shown. */
export const usePath = <Answer>(admin: Admin, path: string, everyMs: number): Polled<Answer> =>
  usePolled(
    useCallback(() => admin.read<Answer>(path), [admin, path]),
    everyMs,
  )

/**
 * Reads again, `everyMs` after the end of each read, as long as it is shown.
 * @param read another function is called at once; null: there is nothing to read
 */
export function usePolled<Answer>(
  read: (() => Promise<Answer>) | null,
  everyMs: number,
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
          if (!isOver) timer = setTimeout(() => void refresh(), everyMs)
        })
    void refresh()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [read])
  return { answer, problem }
}
