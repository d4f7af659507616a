import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Peaks } from '../../../clients/typescript/client.ts'
import type { Mixer } from '../../audio/mixer.ts'
import { resume } from '../../audio/mixer-state.ts'
import { messageOf } from '../../state/credential.ts'
import { load, type LoadedResult, type PlayableResult } from '../../state/loaded-media.ts'
import type { OpenRequest } from '../../state/open-request.ts'
import { withRetries } from '../../state/retry.ts'
import { Downloads } from './downloads.tsx'
import { Player } from './player.tsx'
import { PlainPlayer } from './plain-player.tsx'
import { Problem } from '../problem.tsx'

interface OutputsProps<Result extends PlayableResult> {
  request: OpenRequest
  read(): Promise<Result>
  readPeaks(): Promise<Peaks>
  /** Shown above the player; the mixer is null until the outputs can be played. */
  above?(result: Result, mixer: Mixer | null): ComponentChildren
  /** Shown below the downloads. */
  below(result: Result): ComponentChildren
}

/** Plays and saves what a request separated. */
export function Outputs<Result extends PlayableResult>(props: OutputsProps<Result>) {
  const { request, read, readPeaks } = props
  const [result, setResult] = useState<Result | null>(null)
  const [loaded, setLoaded] = useState<LoadedResult | null>(null)
  const [isPlain, setPlain] = useState(false)
  const [problem, setProblem] = useState('')
  const readFor = useRef('')
  useEffect(() => {
    readFor.current = request.name
    let mixer: LoadedResult['mixer'] | undefined
    const unmounting = new AbortController()
    const { signal } = unmounting
    const start = async () => {
      const newResult = await withRetries(read, { signal })
      setResult(newResult)
      const media = await load(request, newResult, () => withRetries(readPeaks, { signal }))
      if (!media) return setPlain(true)
      mixer = media.mixer
      if (signal.aborted) return mixer.close()
      setLoaded(media)
      if (request.heard) resume(mixer, request.heard)
      else if (request.playsAtOnce) void mixer.play()
    }
    start().catch((error: unknown) => {
      if (signal.aborted) return
      setProblem(messageOf(error))
      setPlain(true)
    })
    return () => {
      unmounting.abort()
      mixer?.close()
    }
  }, [request])
  useEffect(() => {
    // files are saved under the name that the request has now
    if (!result || readFor.current === request.name) return
    readFor.current = request.name
    read().then(setResult, (error: unknown) => setProblem(messageOf(error)))
  }, [request.name, result])
  return (
    <>
      <Problem>{problem}</Problem>
      {result && props.above?.(result, loaded?.mixer ?? null)}
      {result && <Sounds {...{ ...props, result, loaded, isPlain }} />}
    </>
  )
}

interface SoundsProps<Result extends PlayableResult> extends OutputsProps<Result> {
  result: Result
  /** Null until they are loaded. */
  loaded: LoadedResult | null
  /** Whether they are not decoded in the page. */
  isPlain: boolean
}

function Sounds<Result extends PlayableResult>(props: SoundsProps<Result>) {
  const { request, result, loaded, isPlain, readPeaks, below } = props
  if (!isPlain && !loaded)
    return (
      <p role="status" class="quiet">
        Loading what was separated…
      </p>
    )
  return (
    <>
      {loaded && !isPlain ? (
        <Player loaded={loaded} request={request} />
      ) : (
        <PlainPlayer request={request} result={result} readPeaks={readPeaks} />
      )}
      <Downloads request={request} result={result} mixer={renderable(loaded)} />
      {below(result)}
    </>
  )
}

const renderable = (loaded: LoadedResult | null): Mixer | null =>
  loaded?.mixer.isRenderable ? loaded.mixer : null
