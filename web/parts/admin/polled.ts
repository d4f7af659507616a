import { useEffect, useState } from 'preact/hooks'
import type { Admin } from '../../state/admin.ts'

interface Polled<Answer> {
  /** The latest answer; null until there is one. */
  answer: Answer | null
  /** Why the latest read failed; empty if it did not. */
  problem: string
}

/** Reads a path of the admin API, again every `everyMs`, as long as it is shown. */
export function usePolled<Answer>(admin: Admin, path: string, everyMs: number): Polled<Answer> {
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let isOver = false
    const read = () =>
      admin.read<Answer>(path).then(
        (next) => {
          if (isOver) return
          setAnswer(next)
          setProblem('')
        },
        (error: Error) => setProblem(error.message),
      )
    void read()
    const timer = setInterval(() => void read(), everyMs)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [admin, path])
  return { answer, problem }
}
