import { useEffect, useRef, useState } from 'preact/hooks'
import { refusal } from '../../../clients/typescript/errors.ts'
import { TASKS } from '../../../shared/tasks.ts'
import { beginChoice, prompts, setSource, type FileSource } from '../../state/draft.ts'
import { separate, sending } from '../../state/open-request.ts'
import { chooseTask } from '../../state/chosen-task.ts'

interface Example {
  name: string
  address: string
  /** Prompts to try, the best one first. */
  prompts: readonly string[]
}

/** Set by the build. */
declare const EXAMPLES: readonly Example[]

/** Sounds to try, each with prompts that work well on it. */
export function Examples({ onProblem }: { onProblem(text: string): void }) {
  const [playing, setPlaying] = useState<string | null>(null)
  const audio = useRef<HTMLAudioElement>(null)
  useEffect(() => {
    if (playing) audio.current!.play().catch((error: Error) => onProblem(error.message))
    else audio.current!.pause()
  }, [playing])
  return (
    <div class="examples" role="group" aria-label="Examples">
      {EXAMPLES.map((example) => (
        <Card
          key={example.name}
          example={example}
          isPlaying={playing === example.address}
          onPlay={setPlaying}
          onProblem={onProblem}
        />
      ))}
      <audio ref={audio} src={playing ?? undefined} onEnded={() => setPlaying(null)} />
    </div>
  )
}

interface CardProps {
  example: Example
  isPlaying: boolean
  /** Called with the address that is to be played; null to stop. */
  onPlay(address: string | null): void
  onProblem(text: string): void
}

function Card({ example, isPlaying, onPlay, onProblem }: CardProps) {
  const title = example.name.replaceAll('-', ' ')
  const first = example.prompts[0]!
  const [isBusy, setBusy] = useState(false)
  const take = async (work: (source: FileSource) => unknown) => {
    const isLatest = beginChoice()
    setBusy(true)
    try {
      const bytes = await fetchBytes(example.address)
      if (!isLatest()) return
      const name = `${example.name}.wav`
      const source = { kind: 'file', name, contentType: 'audio/wav', bytes } as const
      setSource(source)
      await work(source)
    } catch (error) {
      if (isLatest()) onProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  const choose = (prompt?: string) => take(() => prompt !== undefined && (prompts.value = [prompt]))
  const separateNow = () =>
    take((source) => {
      if (sending.peek()) return undefined // the source before it was sent in the meantime
      onPlay(null)
      chooseTask(TASKS[0])
      prompts.value = [first]
      return separate(source, { playsAtOnce: true })
    })
  return (
    <div class="example">
      <button type="button" class="link" onClick={() => void choose()}>
        {title}
      </button>
      <div class="choice">
        <button
          type="button"
          aria-label={`${isPlaying ? 'Stop' : 'Play'} ${title}`}
          aria-pressed={isPlaying}
          onClick={() => onPlay(isPlaying ? null : example.address)}
        >
          {isPlaying ? '■' : '▶'}
        </button>
        {example.prompts.map((prompt) => (
          <button key={prompt} type="button" onClick={() => void choose(prompt)}>
            {prompt}
          </button>
        ))}
      </div>
      <button
        type="button"
        disabled={isBusy || sending.value !== null}
        onClick={() => void separateNow()}
      >
        Hear the {first} alone
      </button>
    </div>
  )
}

async function fetchBytes(address: string): Promise<Blob> {
  const reply = await fetch(address)
  if (!reply.ok) throw refusal(await reply.text(), reply)
  return reply.blob()
}
