import { useEffect, useRef, useState } from 'preact/hooks'
import WaveSurfer from 'wavesurfer.js'
import type { OutputFile, Peaks, Result, Waveform } from '../../clients/typescript/client.ts'
import { planesOf } from '../audio/peaks.ts'
import { currentClient } from '../state/credential.ts'
import { targetsOf } from '../state/player.ts'
import type { OpenRequest } from '../state/request.ts'

/** For media that is too long to be decoded in a page: the browser's own players. */
export function PlainPlayer({ request, result }: { request: OpenRequest; result: Result }) {
  const [peaks, setPeaks] = useState<Peaks | null>(null)
  useEffect(() => {
    // without them, an older engine's say, there are players alone
    currentClient()
      .peaks(request.id)
      .then(setPeaks)
      .catch(() => undefined)
  }, [request.id])
  const files = [
    ...targetsOf(request, result).map(({ prompt, file }, i) => ({
      label: prompt,
      file,
      waveform: peaks?.targets[i],
    })),
    { label: 'Residual', file: result.data.residual, waveform: peaks?.residual },
  ]
  return (
    <div class="plain">
      {files.map((output) => (
        <PlainOutput key={output.file.url} {...output} />
      ))}
    </div>
  )
}

interface PlainOutputProps {
  label: string
  file: OutputFile
  waveform: Waveform | undefined
}

/** The browser's player, under a waveform that shows where it is and seeks in it. */
function PlainOutput({ label, file, waveform }: PlainOutputProps) {
  const audio = useRef<HTMLAudioElement>(null)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!waveform) return undefined
    const { length, samples_per_pixel: samples, sample_rate: rate } = waveform
    const surfer = WaveSurfer.create({
      container: box.current!,
      media: audio.current!,
      peaks: planesOf(waveform),
      duration: (length * samples) / rate,
      height: 72,
      waveColor: '#4f7cff',
      progressColor: '#2f54c9',
    })
    return () => surfer.destroy()
  }, [waveform])
  return (
    <figure>
      <figcaption>
        {label} <a href={file.url}>Download</a>
      </figcaption>
      {waveform && (
        <div class="waveform" ref={box} role="img" aria-label={`Waveform of ${label}`} />
      )}
      {/* Speech that was separated has no captions. Without the length no click would seek. */}
      <audio ref={audio} controls preload="metadata" src={file.url} aria-label={label} />
    </figure>
  )
}
