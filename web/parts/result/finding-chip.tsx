import { useId } from 'preact/hooks'
import { chipText, explain, type Finding } from '../../state/chip.ts'

/** Shows a finding in a few words, and everything that is known when pressed or hovered. */
export function FindingChip({ finding, label }: { finding: Finding; label: string }) {
  const id = useId()
  const { state, quality } = finding
  const explained = explain(finding)
  return (
    <>
      <button
        type="button"
        class={`chip ${state}`}
        popovertarget={id}
        title={explained[0]}
        aria-label={`What was found of ${label}: ${chipText(finding)}`}
      >
        {chipText(finding)}
      </button>
      {quality && <span class={`quality ${quality}`}>quality: {quality}</span>}
      <div id={id} popover="auto" class="explained">
        {explained.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
    </>
  )
}
