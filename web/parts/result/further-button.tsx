import { useState } from 'preact/hooks'
import type { Output } from '../../audio/lane.ts'
import { credential, currentClient, messageOf } from '../../state/credential.ts'
import { beginChoice } from '../../state/draft.ts'
import { request, takeOutput } from '../../state/open-request.ts'
import { Problem } from '../problem.tsx'

interface FurtherButtonProps {
  label: string
  output: Output
  /**
   * Whether the page fetches its bytes, to draw them and to compare what is separated from them.
   */
  isHeld?: boolean
}

/** Makes an output the source of the next separation; the service already has its media. */
export function FurtherButton({ label, output, isHeld = false }: FurtherButtonProps) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const { url, name, place } = output
  const press = async () => {
    const isLatest = beginChoice()
    setBusy(true)
    try {
      const bytes = isHeld ? await (await currentClient().open(url)).blob() : null
      const isOpen = request.peek()?.id === place.request_id
      if (isOpen && isLatest()) takeOutput({ name, place, bytes })
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  if (!credential.value) return null // a shared result
  return (
    <>
      <button
        class="further"
        disabled={isBusy}
        aria-label={`Separate further: ${label}`}
        onClick={() => void press()}
      >
        Separate further
      </button>
      <Problem>{problem}</Problem>
    </>
  )
}
