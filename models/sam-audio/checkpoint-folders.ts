/** Finds the parts of SAM-Audio. Each part is a folder with a `config.json`, as published. */
import { access, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/** The model itself, its text encoder, and two optional helpers. */
export const PARTS = ['model', 'text', 'spans', 'judge'] as const

export type Part = (typeof PARTS)[number]

export type PartFolders = Readonly<Partial<Record<Part, string>>>

/** Matches the published name of a part's folder, or the `model_type` in its configuration. */
const HINTS: Readonly<Partial<Record<Part, RegExp>>> = {
  text: /t5/i,
  spans: /pe[-_]a(udio)?[-_]frame/i,
  judge: /judge/i,
}

type Config = Readonly<Record<string, unknown>>

/** Recognises a part by settings that only its `config.json` has. */
const SIGNS: Readonly<Record<Part, (config: Config) => boolean>> = {
  model: (config) => 'audio_codec' in config && 'text_encoder' in config,
  text: (config) => config.model_type === 't5',
  spans: (config) => 'audio_model' in config && 'text_model' in config,
  judge: (config) =>
    'finetune_transformer' in config && ('audio_codec' in config || 'dac_vae_encoder' in config),
}

/**
 * Finds the folder of each part that is present: `folder` itself, one inside it or, for parts other
 * than the model, one next to it, whichever is nearest. If several qualify, the one that the
 * model's own configuration names is used.
 * @throws Error naming the folders if several qualify, or a damaged configuration
 */
export async function findParts(folder: string): Promise<PartFolders> {
  const root = resolve(folder)
  const folders = await Promise.all(
    [[root], await foldersIn(root)].map((level) => Promise.all(level.map(describe))),
  )
  const beside = await Promise.all((await foldersBeside(root)).map(describeNeighbour))
  const folderOf: Partial<Record<Part, string>> = {}
  let names: readonly string[] = []
  for (const part of PARTS) {
    const levels = part === 'model' ? folders : [...folders, beside]
    const levelsWith = levels.map((level) =>
      level.filter(({ config }) => config && SIGNS[part](config)),
    )
    const candidates = levelsWith.find((level) => level.length > 0) ?? []
    const chosen = choose(part, candidates, names)
    if (!chosen) continue
    folderOf[part] = chosen.path
    if (part === 'model') names = namesIn(chosen.config!)
  }
  return folderOf
}

/**
 * Returns sentences about folders that look like a missing part but are not used. `found` is the
 * result of `findParts`.
 */
export async function unusedFolders(folder: string, found: PartFolders): Promise<string[]> {
  const root = resolve(folder)
  const paths = [root, ...(await foldersIn(root)), ...(await foldersBeside(root))]
  const described = await Promise.all([...new Set(paths)].map(describeNeighbour))
  return described.flatMap(({ path, config }) =>
    Object.entries(HINTS).flatMap(([part, hint]) => {
      const isMeant = hint.test(basename(path)) || hint.test(String(config?.model_type))
      if (found[part as Part] || !isMeant) return []
      const why =
        config === null
          ? 'it has no config.json that can be read'
          : `its config.json is not that of one (it has ${Object.keys(config).join(', ')})`
      return [`${path} seems to be the ${part} part of SAM-Audio, but is not used: ${why}`]
    }),
  )
}

/** File names of a part's weights; the first that exists is used. */
const CHECKPOINTS = [
  'model.safetensors',
  'model.safetensors.index.json',
  'checkpoint.safetensors',
  'checkpoint.pt',
  'pytorch_model.bin',
]

/**
 * Returns the file of weights in a part's folder.
 * @throws Error if there is none
 */
export async function findCheckpoint(folder: string): Promise<string> {
  for (const name of CHECKPOINTS) {
    const file = join(folder, name)
    const isThere = await access(file).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  throw new Error(`${folder}: no checkpoint is there, one of ${CHECKPOINTS.join(', ')}`)
}

interface CheckpointFolder {
  path: string
  config: Config | null
}

async function describe(path: string): Promise<CheckpointFolder> {
  const file = join(path, 'config.json')
  try {
    const config: unknown = JSON.parse(await readFile(file, 'utf8'))
    return { path, config: typeof config === 'object' ? (config as Config | null) : null }
  } catch (cause) {
    if (isTransient(cause)) return { path, config: null }
    throw new Error(`${file}: can't be read as JSON`, { cause })
  }
}

/** Other files next to the model are none of our business, unless they are a part. */
const describeNeighbour = (path: string): Promise<CheckpointFolder> =>
  describe(path).catch(() => ({ path, config: null }))

const isTransient = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'EACCES'].includes(String((error as { code?: unknown }).code))

function choose(
  part: Part,
  candidates: readonly CheckpointFolder[],
  names: readonly string[],
): CheckpointFolder | undefined {
  if (candidates.length <= 1) return candidates[0]
  const meant = candidates.filter(({ path }) => names.includes(basename(path)))
  if (meant.length === 1) return meant[0]
  const paths = candidates.map(({ path }) => path).join(', ')
  throw new Error(`several folders could be the ${part} part of SAM-Audio: ${paths}`)
}

/** Returns the last components of the names in the configuration, such as `t5-base`. */
function namesIn({ text_encoder: text, span_predictor: spans }: Config): string[] {
  const names = [(text as { name?: unknown } | null)?.name, spans]
  return names.filter((name) => typeof name === 'string').map((name) => basename(name))
}

async function foldersBeside(folder: string): Promise<string[]> {
  try {
    return await foldersIn(dirname(folder))
  } catch (error) {
    if (isTransient(error)) return []
    throw error
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => join(folder, name))
    .sort()
}
