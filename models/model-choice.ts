/**
 * The models that there are, apart from their code: settings are checked without loading
 * TensorFlow.
 */
import { installedFolders, isInstalled, readRecord } from './installed/record.ts'
import { preferenceOf, PREFERENCES } from './preference.ts'

/** Which model, and of one that is not built in, where it lies. */
export type ModelChoice =
  | { kind: 'mini'; name: 'mini' }
  | { kind: 'sam-audio'; name: 'sam-audio'; folder: string }
  | { kind: 'installed'; name: string; folder: string }

/** Models that lie on this machine. */
export interface ModelFolders {
  /** The folder in which an admin installs them, each in one of its own. */
  installed: string
  /** That of the model for songs, which set-up fetches; there may be none. */
  songs: string
}

/** The model for songs that set-up fetches. */
export const SONGS_MODEL = 'spleeter'

/** All that are there by their names; of two with one name the installed one. */
export function foldersByName({ installed, songs }: ModelFolders): Map<string, string> {
  const fetched: [string, string][] = isInstalled(songs) ? [[SONGS_MODEL, songs]] : []
  return new Map([...fetched, ...installedFolders(installed)])
}

/** All that there are, in the order of preference, then the built-in one. */
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

/** Place of a model in the order of preference; the built-in one is the last. */
export const rankOf = (choice: ModelChoice): number =>
  choice.kind === 'installed'
    ? preferenceOf(choice.name, readRecord(choice.folder).kind)
    : PREFERENCES.length

/** Returns whether a model is there still, or again. */
export const isThere = (choice: ModelChoice): boolean =>
  choice.kind !== 'installed' || isInstalled(choice.folder)

/** Returns whether a model came with Winnow, or with its set-up. */
export const isBuiltIn = (choice: ModelChoice, { songs }: ModelFolders): boolean =>
  choice.kind === 'mini' || (choice.kind === 'installed' && choice.folder === songs)

/**
 * Reads names of models with commas between them, the preferred first: `mini`,
 * `sam-audio:<folder>`, or one that is installed.
 * @throws Error saying what would be right
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
