/**
 * Lists the available models. It is apart from their code so that settings can be checked without
 * loading TensorFlow.
 */
import { installedFolders, isInstalled, readRecord } from './installed/record.ts'
import { preferenceOf, PREFERENCES } from './preference.ts'

/** A model and, unless it is built in, its folder. */
export type ModelChoice =
  | { kind: 'mini'; name: 'mini' }
  | { kind: 'sam-audio'; name: 'sam-audio'; folder: string }
  | { kind: 'installed'; name: string; folder: string }

/** Where models are on this machine. */
export interface ModelFolders {
  /** The folder in which an admin installs models, each in a folder of its own. */
  installed: string
  /** The folder of the songs model that set-up fetches; it may not exist. */
  songs: string
}

/** The songs model that set-up fetches. */
export const SONGS_MODEL = 'spleeter'

/** Returns all models by name; if two have the same name, the installed one. */
export function foldersByName({ installed, songs }: ModelFolders): Map<string, string> {
  const fetched: [string, string][] = isInstalled(songs) ? [[SONGS_MODEL, songs]] : []
  return new Map([...fetched, ...installedFolders(installed)])
}

/** Returns all models in order of preference, the built-in one last. */
export function availableChoices(folders: ModelFolders): ModelChoice[] {
  const choices: ModelChoice[] = [
    ...[...foldersByName(folders)].map(([name, folder]) => ({
      kind: 'installed' as const,
      name,
      folder,
    })),
    { kind: 'mini', name: 'mini' },
  ]
  const ranked = choices.map((choice) => ({ choice, rank: rankOf(choice) }))
  return ranked.sort((a, b) => a.rank - b.rank).map(({ choice }) => choice)
}

/** Position of a model in the order of preference; the built-in one is last. */
export const rankOf = (choice: ModelChoice): number =>
  choice.kind === 'installed'
    ? preferenceOf(choice.name, readRecord(choice.folder).kind)
    : PREFERENCES.length

/** Whether the files of a model still exist. */
export const isThere = (choice: ModelChoice): boolean =>
  choice.kind !== 'installed' || isInstalled(choice.folder)

/** Whether a model came with Winnow or its set-up. */
export const isBuiltIn = (choice: ModelChoice, { songs }: ModelFolders): boolean =>
  choice.kind === 'mini' || (choice.kind === 'installed' && choice.folder === songs)

/**
 * Parses comma-separated names of models, the preferred one first: `mini`, `sam-audio:<folder>`, or
 * an installed model.
 * @throws Error saying what would be valid
 */
export function parseModelChoices(text: string, folders: ModelFolders): ModelChoice[] {
  const choices = text.split(',').map((name) => parseModelChoice(name.trim(), folders))
  const names = choices.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw new Error(`must name each model once, not ${twice} twice`)
  return choices
}

function parseModelChoice(text: string, folders: ModelFolders): ModelChoice {
  if (text === 'mini') return { kind: 'mini', name: 'mini' }
  const [, samAudio] = /^sam-audio:(.+)$/.exec(text) ?? []
  if (samAudio) return { kind: 'sam-audio', name: 'sam-audio', folder: samAudio }
  const installed = foldersByName(folders)
  const folder = installed.get(text)
  if (folder) return { kind: 'installed', name: text, folder }
  const names = ['mini', 'sam-audio:<folder>', ...installed.keys()].join(', ')
  throw new Error(`must name models of ${names} (installed in ${folders.installed}), not "${text}"`)
}
