import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface ConfirmedButtonProps {
  /** For example `Revoke`. */
  action: string
  /** What it acts on, for people who cannot see the row. */
  target: string
  /** Resolves with what to show; null if the page shows the change anyway. */
  act(): Promise<ComponentChildren>
}

/** Acts when it is pressed a second time. */
export function ConfirmedButton({ action, target, act }: ConfirmedButtonProps) {
  const [isSure, setSure] = useState(false)
  const [shown, setShown] = useState<ComponentChildren>(null)
  const [problem, setProblem] = useState('')
  const press = () => {
    setSure(!isSure)
    if (!isSure) return
    setProblem('')
    act().then(setShown, (error: Error) => setProblem(error.message))
  }
  return (
    <>
      <button
        type="button"
        aria-label={`${isSure ? 'Really ' : ''}${action} ${target}`}
        onClick={press}
        onBlur={() => setSure(false)}
      >
        {isSure ? 'Really?' : action}
      </button>
      <output>{shown}</output>
      {problem && <span role="alert">{problem}</span>}
    </>
  )
}
