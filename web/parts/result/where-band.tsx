import { whereText, type Finding } from '../../state/chip.ts'
import { pixelsOf } from './timeline.tsx'
import type { View } from '../waveform.tsx'

interface WhereBandProps {
  finding: Finding
  /** Length of the media. */
  seconds: number
  /** View of the waveform above; absent if all of it fits. */
  view?: View
}

/** Shows where a sound was found, aligned with the waveform above. */
export function WhereBand({ finding, seconds, view }: WhereBandProps) {
  const text = whereText(finding)
  if (text === '' || seconds === 0) return null
  const sound = finding.asked?.length === 1 ? finding.asked[0]!.sound : finding.prompt
  const name = `“${sound}” sounds at ${text}`
  const width = view?.width.value
  const scale = view && width ? pixelsOf(view, seconds) / width : 1 / seconds
  const from = view?.scroll.value ?? 0
  return (
    <div class="where" role="img" aria-label={name} title={name}>
      {finding.where!.map(({ start, end }) => (
        <span
          key={start}
          style={{
            left: `${100 * (start - from) * scale}%`,
            width: `${100 * (end - start) * scale}%`,
          }}
        />
      ))}
    </div>
  )
}
