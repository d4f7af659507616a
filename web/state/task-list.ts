/** Jobs that people come with: each fills the form, and says which output is kept. */

import { signal } from '@preact/signals'
import type { Result, Submission } from '../../clients/typescript/client.ts'
import { options, prompts } from './draft.ts'
import { soundNames, stemNames } from './separators.ts'

/** Heard first, and offered first for download. */
export type Kept = 'target' | 'residual'

export interface Task {
  name: string
  /** Does in a sentence, without its format. */
  does: string
  keeps: Kept
  format: 'wav' | 'flac' | 'mp3'
  /** Empty: whoever asks types them. */
  prompts(): string[]
}

/** Stems that other models may know, where no model of songs is installed. */
const PLAIN_STEMS = ['drum kit', 'bass', 'electric guitar', 'piano', 'singing']

export const TASKS: readonly [Task, ...Task[]] = [
  {
    name: 'Anything',
    does: 'Takes out what you describe, and gives the rest too',
    keeps: 'target',
    format: 'wav',
    prompts: () => [''],
  },
  {
    name: 'Clean up speech',
    does: 'Keeps speech, without noise and music',
    keeps: 'target',
    format: 'wav',
    prompts: () => ['speech'],
  },
  {
    name: 'Remove a sound',
    does: 'Keeps everything but the sound that you describe',
    keeps: 'residual',
    format: 'wav',
    prompts: () => [''],
  },
  {
    name: 'Split a song',
    does: 'Gives each instrument a file of its own',
    keeps: 'target',
    format: 'flac',
    prompts: stemsOfSongs,
  },
  {
    name: 'Dialogue from a video',
    does: 'Keeps what is spoken, as sound and as a video with its picture',
    keeps: 'target',
    format: 'wav',
    prompts: () => ['speech'],
  },
]

export const task = signal<Task>(TASKS[0])

/** Goes with a request, so that its result is shown as the task wants it, also after a reload. */
export const askedMetadata = (): Pick<Submission, 'metadata'> =>
  task.value.keeps === 'target' ? {} : { metadata: { keeps: task.value.keeps } }

export const keptOf = ({ metadata }: Pick<Result, 'metadata'>): Kept =>
  metadata?.keeps === 'residual' ? 'residual' : 'target'

function stemsOfSongs(): string[] {
  const stems = stemNames()
  const known = soundNames().map((name) => name.toLowerCase())
  const plain = PLAIN_STEMS.filter((name) => known.includes(name))
  const all = stems.length > 0 ? stems : plain
  return all.length > 0 ? all : ['']
}

/** Fills the form. */
export function chooseTask(next: Task): void {
  task.value = next
  prompts.value = next.prompts()
  const { output_format: _old, ...rest } = options.value
  options.value = next.format === 'wav' ? rest : { ...rest, output_format: next.format }
}
