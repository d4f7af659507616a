/**
 * The models that there are, apart from their code: settings are checked without loading
 * TensorFlow.
 */
import { installedFolders, readRecord, type ModelRecord } from './installed/record.ts'

/** Which model, and of one that is not built in, where it lies. */
export type ModelChoice =
  | { kind: 'mini'; name: 'mini' }
  | { kind: 'sam-audio'; name: 'sam-audio'; folder: string }
  | { kind: 'installed'; name: string; folder: string }

/** Models of one kind are preferred in this order, and before all others of it. */
const PREFERRED = ['htdemucs_ft', 'htdemucs', 'htdemucs_6s', 'audiosep-hive', 'audiosep']
const KINDS_PREFERRED: readonly ModelRecord['kind'][] = [
  'roformer',
  'htdemucs',
  'bandit',
  'spleeter',
  'audiosep',
]

/** All that are installed, those with stems first, then the built-in one. */
export function installedChoices(modelsFolder: string): ModelChoice[] {
  const installed = [...installedFolders(modelsFolder)].map(([name, folder]) => {
    const kind = KINDS_PREFERRED.indexOf(readRecord(folder).kind)
    const known = PREFERRED.indexOf(name)
    return { name, folder, rank: [kind, known < 0 ? PREFERRED.length : known] as const }
  })
  installed.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1])
  return [
    ...installed.map(({ name, folder }) => ({ kind: 'installed' as const, name, folder })),
    { kind: 'mini', name: 'mini' },
  ]
}

/**
 * Reads names of models with commas between them, the preferred first: `mini`,
 * `sam-audio:<folder>`, or one that is installed.
 * @throws Error saying what would be right
 */
export function parseModelChoices(text: string, modelsFolder: string): ModelChoice[] {
  const choices = text.split(',').map((name) => parseModelChoice(name.trim(), modelsFolder))
  const names = choices.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw new Error(`must name each model once, not ${twice} twice`)
  return choices
}

function parseModelChoice(text: string, modelsFolder: string): ModelChoice {
  if (text === 'mini') return { kind: 'mini', name: 'mini' }
  const [, samAudio] = /^sam-audio:(.+)$/.exec(text) ?? []
  if (samAudio) return { kind: 'sam-audio', name: 'sam-audio', folder: samAudio }
  const installed = installedFolders(modelsFolder)
  const folder = installed.get(text)
  if (folder) return { kind: 'installed', name: text, folder }
  const names = ['mini', 'sam-audio:<folder>', ...installed.keys()].join(', ')
  throw new Error(`must name models of ${names} (installed in ${modelsFolder}), not "${text}"`)
}
