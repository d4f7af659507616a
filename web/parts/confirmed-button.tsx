import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface ConfirmedButtonProps {
  /** Such as `Revoke`. */
  action: string
  /** On what, for who can't see the row. */
  of: string
  /** Resolves with what to show: nothing where the page shows the change anyway. */
  act(): Promise<ComponentChildren>
}

/** Acts at the second press. */
export function ConfirmedButton({ action, of, act }: ConfirmedButtonProps) {
  const [isSure, setSure] = useState(false)
  const [shown, setShown] = useState<ComponentChildren>(null)
  const [problem, setProblem] = useState('')
  const press = () => {
    setSure(!isSure)
    if (!isSure) return
    act().then(setShown, (error: Error) => setProblem(error.message))
  }
  return (
    <>
      <button
        type="button"
        aria-label={`${isSure ? 'Really ' : ''}${action} ${of}`}
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
