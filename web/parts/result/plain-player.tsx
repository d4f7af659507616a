import type { TargetedEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Peaks, Waveform } from '../../../clients/typescript/client.ts'
import type { Output } from '../../audio/lane.ts'
import { planesOfWaveform } from '../../audio/peaks.ts'
import type { Finding } from '../../state/chip.ts'
import { outputsOf, type PlayableResult } from '../../state/loaded-media.ts'
import type { OpenRequest } from '../../state/open-request.ts'
import { drawing } from '../drawing.ts'
import { FindingChip } from './finding-chip.tsx'
import { FurtherButton } from './further-button.tsx'
import { colorsOf } from './lane-colors.ts'
import { WhereBand } from './where-band.tsx'

interface PlainPlayerProps {
  request: OpenRequest
  result: PlayableResult
  readPeaks(): Promise<Peaks>
}

/** Plays media that is too long to be decoded in a page with the browser's own players. */
export function PlainPlayer({ request, result, readPeaks }: PlainPlayerProps) {
  const [peaks, setPeaks] = useState<Peaks | null>(null)
  useEffect(() => {
    // without them, as in requests that 0.2.0 served, there are only players
    readPeaks()
      .then(setPeaks)
      .catch(() => undefined)
  }, [request])
  const outputs = outputsOf(request, result).map((output, i) => ({
    ...output,
    waveform: output.kind === 'target' ? peaks?.targets[i] : peaks?.residual,
  }))
  const colors = colorsOf(outputs)
  return (
    <div class="plain" onPlayCapture={pauseOthers}>
      <p class="quiet">
        This media is too long to be decoded in a page: it is streamed. One output plays at a time,
        and another goes on where it was.
      </p>
      {outputs.map((shown, i) => (
        <PlainOutput
          key={shown.output.url}
          {...shown}
          color={colors[i]!}
          seconds={result.data.duration ?? 0}
        />
      ))}
    </div>
  )
}

/** The output that starts to play continues at the time of the previous one. */
function pauseOthers({ currentTarget, target }: TargetedEvent<HTMLElement>): void {
  for (const other of currentTarget.querySelectorAll('audio')) {
    if (other === target || other.paused) continue
    other.pause()
    if (target instanceof HTMLAudioElement) target.currentTime = other.currentTime
  }
}

interface PlainOutputProps {
  label: string
  color: string
  output: Output
  finding?: Finding | undefined
  waveform: Waveform | undefined
  /** Length of the media. */
  seconds: number
}

/** The browser's player below a waveform, which shows the position and can be used to seek. */
function PlainOutput(props: PlainOutputProps) {
  const { label, color, output, finding, waveform, seconds } = props
  const audio = useRef<HTMLAudioElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const library = drawing.value
  useEffect(() => {
    if (!library || !waveform) return undefined
    const { length, samples_per_pixel: samples, sample_rate: rate } = waveform
    const surfer = library.WaveSurfer.create({
      container: box.current!,
      media: audio.current!,
      peaks: planesOfWaveform(waveform),
      duration: (length * samples) / rate,
      height: 72,
      waveColor: color,
      progressColor: color,
      cursorColor: '#d6336c',
      cursorWidth: 2,
      dragToSeek: true,
    })
    return () => surfer.destroy()
  }, [library, waveform, color])
  return (
    <figure style={{ '--lane': color }}>
      <figcaption>
        {label} {finding && <FindingChip finding={finding} label={label} />}{' '}
        <FurtherButton label={label} output={output} />
      </figcaption>
      {waveform && (
        <div class="waveform" ref={box} role="img" aria-label={`Waveform of ${label}`} />
      )}
      {finding && <WhereBand finding={finding} seconds={seconds} />}
      {/* Speech that was separated has no captions. Without the length no click would seek. */}
      <audio ref={audio} controls preload="metadata" src={output.url} aria-label={label} />
    </figure>
  )
}
