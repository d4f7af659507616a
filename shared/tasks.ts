/** The tasks that people come with, for the page and the command line. */

import { readPrompt } from './prompts/read-prompt.ts'
import { isPartOfSong } from './prompts/sounds.ts'

/** The output that is heard first, and offered first for download. */
export type PreferredOutput = 'target' | 'residual'

export interface Task {
  /** Names the task on a command line; undefined for the default of separating. */
  word?: string
  name: string
  /** Describes the task in a sentence, without its format. */
  does: string
  keeps: PreferredOutput
  format: 'wav' | 'flac' | 'mp3'
  /** Empty: the user types them. `stems`: whatever the models can split a song into. */
  prompts: readonly string[] | 'stems'
}

export const TASKS: readonly [Task, ...Task[]] = [
  {
    name: 'Anything',
    does: 'Takes out what you describe, and gives the rest too',
    keeps: 'target',
    format: 'wav',
    prompts: [],
  },
  {
    word: 'speech',
    name: 'Clean up speech',
    does: 'Keeps speech, without noise and music',
    keeps: 'target',
    format: 'wav',
    prompts: ['speech'],
  },
  {
    word: 'remove',
    name: 'Remove a sound',
    does: 'Keeps everything but the sound that you describe',
    keeps: 'residual',
    format: 'wav',
    prompts: [],
  },
  {
    word: 'song',
    name: 'Split a song',
    does: 'Gives each instrument a file of its own',
    keeps: 'target',
    format: 'flac',
    prompts: 'stems',
  },
  {
    word: 'dialogue',
    name: 'Dialogue from a video',
    does: 'Keeps what is spoken, as sound and as a video with its picture',
    keeps: 'target',
    format: 'wav',
    prompts: ['speech'],
  },
]

/** The usual stems of songs, offered where no model of songs is installed. */
const PLAIN_STEMS = ['drum kit', 'bass', 'electric guitar', 'piano', 'singing']

/** A model, as far as tasks need to know it. */
interface KnownModel {
  stems: readonly string[]
  names?: readonly string[]
}

/** The prompts of a task; none: the user names them. */
export function promptsOf({ prompts }: Task, models: readonly KnownModel[]): string[] {
  if (prompts !== 'stems') return [...prompts]
  const stems = songStemsOf(models)
  const known = namesOf(models).map((name) => name.toLowerCase())
  return stems.length > 0 ? stems : PLAIN_STEMS.filter((name) => known.includes(name))
}

/**
 * The stems that the models can split a song into, each once. One that is all but another, such as
 * an accompaniment, counts where its parts are none of them.
 */
export function songStemsOf(models: readonly KnownModel[]): string[] {
  const stems = stemsOf(models).map((stem) => ({ stem, reading: readPrompt(stem) }))
  const isPart = ({ reading }: (typeof stems)[number]) =>
    reading.wanted.some(({ name }) => isPartOfSong(name))
  const isRest = ({ reading }: (typeof stems)[number]) =>
    reading.unwanted.some(({ name }) => isPartOfSong(name))
  const hasParts = stems.filter(isPart).length > 1
  return stems.filter((each) => isPart(each) || (isRest(each) && !hasParts)).map(({ stem }) => stem)
}

/** The stems of all models, each once. */
const stemsOf = (models: readonly KnownModel[]): string[] => [
  ...new Set(models.flatMap(({ stems }) => stems.map((stem) => stem.toLowerCase()))),
]

/** Names of sounds that the models know: stems first. */
export const namesOf = (models: readonly KnownModel[]): string[] => [
  ...new Set([...stemsOf(models), ...models.flatMap(({ names = [] }) => names)]),
]

/** Input with which nothing is softened that is taken out of what the task keeps. */
export const sideOf = ({ keeps }: Task): { side?: 'residual' } =>
  keeps === 'residual' ? { side: keeps } : {}

/** Metadata with which a request's result is shown as its task wants it, also after a reload. */
export const metadataOf = ({ keeps }: Task): { metadata?: { keeps: PreferredOutput } } =>
  keeps === 'target' ? {} : { metadata: { keeps } }
