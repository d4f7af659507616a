/** The tasks that people use the service for, on the page and the command line. */

import { readPrompt } from './prompts/read-prompt.ts'
import { isPartOfSong } from './prompts/sounds.ts'

/** The output that is played first and offered first for download. */
export type PreferredOutput = 'target' | 'residual'

export interface Task {
  /** The task's name on a command line; undefined for separating, the default. */
  word?: string
  name: string
  /** Describes the task in a sentence, without the format. */
  does: string
  keeps: PreferredOutput
  format: 'wav' | 'flac' | 'mp3'
  /** Empty if the user types them; `stems` for all stems into which the models can split a song. */
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

/** The usual stems of songs, offered if no model for songs is installed. */
const PLAIN_STEMS = ['drum kit', 'bass', 'electric guitar', 'piano', 'singing']

/** What tasks need to know about a model. */
interface KnownModel {
  stems: readonly string[]
  names?: readonly string[]
}

/** Returns the prompts of a task; none if the user names them. */
export function promptsOf({ prompts }: Task, models: readonly KnownModel[]): string[] {
  if (prompts !== 'stems') return [...prompts]
  const stems = songStemsOf(models)
  const knownNames = namesOf(models).map((name) => name.toLowerCase())
  return stems.length > 0 ? stems : PLAIN_STEMS.filter((name) => knownNames.includes(name))
}

/**
 * Returns the stems into which the models can split a song, each once. A stem that is everything
 * but another, such as an accompaniment, counts only if its parts are not available.
 */
export function songStemsOf(models: readonly KnownModel[]): string[] {
  const stems = stemsOf(models).map((stem) => ({ stem, reading: readPrompt(stem) }))
  const isPart = ({ reading }: (typeof stems)[number]) =>
    reading.wanted.some(({ name }) => isPartOfSong(name))
  const isRest = ({ reading }: (typeof stems)[number]) =>
    reading.unwanted.some(({ name }) => isPartOfSong(name))
  const hasParts = stems.filter(isPart).length > 1
  return stems.filter((stem) => isPart(stem) || (isRest(stem) && !hasParts)).map(({ stem }) => stem)
}

/** Returns the stems of all models, each once. */
const stemsOf = (models: readonly KnownModel[]): string[] => [
  ...new Set(models.flatMap(({ stems }) => stems.map((stem) => stem.toLowerCase()))),
]

/** Returns the names of sounds that the models know, stems first. */
export const namesOf = (models: readonly KnownModel[]): string[] => [
  ...new Set([...stemsOf(models), ...models.flatMap(({ names = [] }) => names)]),
]

/** Returns input by which nothing is softened that is removed from what the task keeps. */
export const sideOf = ({ keeps }: Task): { side?: 'residual' } =>
  keeps === 'residual' ? { side: keeps } : {}

/** Returns metadata by which a result is shown in the way of its task, even after a reload. */
export const metadataOf = ({ keeps }: Task): { metadata?: { keeps: PreferredOutput } } =>
  keeps === 'target' ? {} : { metadata: { keeps } }
