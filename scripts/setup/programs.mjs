// Compiles the service's programs into .runtime/programs, each with all that it imports of ours.
// Node 20 asks a second thread about every module that tsx might have to compile, packages
// included: a compiled gateway starts in a third of the time.

import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ageMs, ROOT, RUNTIME } from './files.mjs'

const FOLDER = join(RUNTIME, 'programs')
/** Lists the files that the last programs were made of, from the root of the checkout. */
const INPUTS = join(FOLDER, 'inputs.json')
/** Services that still run open programs of an earlier version until then. */
const KEPT_MS = 7 * 24 * 3_600_000

/** Errors of a folder that belongs to another user, or that nobody can write. */
const MAY_NOT_WRITE = ['EACCES', 'EPERM', 'EROFS']

/** Paths from the root of the checkout. */
export const PROGRAMS = [
  'gateway/main.ts',
  'engine/main.ts',
  'engine/compute/compute-worker.ts',
  'engine/compute/preparation-worker.ts',
  'engine/installing/fetch-worker.ts',
  'engine/compute/process-main.ts',
  'engine/job/outputs/output-worker.ts',
  'engine/media/resampling-worker.ts',
  'engine/media/process/sound-worker.ts',
  'engine/media/process/video-worker.ts',
  'scripts/cli/doctor/probe.ts',
  'scripts/cli/main.ts',
  'scripts/cli/start.ts',
]

/** The name of a compiled program (shared/process/programs.ts has the same). */
export const compiledName = (program) => program.replaceAll('/', '.').replace(/ts$/, 'mjs')

/**
 * The path of a program, compiled from the sources as they are now; null: it is none of these, or
 * cannot be compiled here, so that tsx has to run it.
 * @param program from the root of the checkout
 */
export async function compiledProgram(program) {
  if (!PROGRAMS.includes(program)) return null
  const folder = folderOfSources() ?? (await compile())
  return folder && join(folder, compiledName(program))
}

/** The step of set-up, so that the first start need not wait, and packages have them. */
export function programsStep() {
  return {
    title: 'the programs',
    isDone: () => folderOfSources() !== null,
    async run() {
      await compile()
    },
  }
}

/** The folder of programs that were made of the present sources, if there is one. */
function folderOfSources() {
  if (!existsSync(INPUTS)) return null
  const folder = folderOf(JSON.parse(readFileSync(INPUTS, 'utf8')))
  return existsSync(folder) ? folder : null
}

/** The folder for what is made of these files; its name is their hash. */
function folderOf(inputs) {
  const hash = createHash('sha256')
  for (const input of inputs) {
    const path = join(ROOT, input)
    hash.update(`${input}\n`).update(existsSync(path) ? readFileSync(path) : '')
  }
  return join(FOLDER, hash.digest('hex').slice(0, 16))
}

/** Several processes may compile at once: each renames what is whole. */
async function compile() {
  let fresh
  try {
    const { build } = await import('esbuild')
    mkdirSync(FOLDER, { recursive: true })
    fresh = mkdtempSync(join(FOLDER, 'new-'))
    const { metafile } = await build(optionsFor(join(fresh, 'programs'), PROGRAMS))
    const sources = Object.keys(metafile.inputs).filter((path) => !isOfPackage(path))
    const inputs = [...sources, 'scripts/setup/programs.mjs', 'package-lock.json'].sort()
    const folder = folderOf(inputs)
    removeOld()
    if (!existsSync(folder)) rename(join(fresh, 'programs'), folder)
    writeFileSync(join(fresh, 'inputs.json'), JSON.stringify(inputs))
    renameSync(join(fresh, 'inputs.json'), INPUTS)
    return folder
  } catch (error) {
    if (!MAY_NOT_WRITE.includes(error.code)) {
      console.error(`The sources run uncompiled, which starts slower: ${error.message}`)
    }
    return null
  } finally {
    if (fresh) rmSync(fresh, { recursive: true, force: true })
  }
}

/** Renames a folder, unless another process has made the same one meanwhile. */
function rename(from, to) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(to)) throw error
  }
}

/**
 * Options of esbuild that compile programs of ours.
 * @param outdir three folders below the root of the checkout
 * @param programs paths from that root; each becomes a file of the folder (see compiledName)
 */
export function optionsFor(outdir, programs) {
  return {
    absWorkingDir: ROOT,
    entryPoints: programs.map((path) => ({ in: path, out: compiledName(path).slice(0, -4) })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [packages, ownPlaces],
    // A compiled file finds what lies beside its source, as the source does.
    banner: { js: "const checkoutUrl = new URL('../../../', import.meta.url);" },
    define: { 'import.meta.url': 'sourceUrl' },
  }
}

/** Pure packages of hundreds of small modules, which load in a tenth of the time as one file. */
const COMPILED_PACKAGES = /^(typebox|kysely|fast-check|pure-rand)(\/|$)/

/** All others are imported from node_modules. */
const packages = {
  name: 'packages',
  setup(build) {
    build.onResolve({ filter: /^[^.]/ }, ({ path, kind }) => {
      if (kind === 'entry-point' || COMPILED_PACKAGES.test(path)) return undefined
      return { path, external: true }
    })
  },
}

const ownPlaces = {
  name: 'own places',
  setup(build) {
    build.onLoad({ filter: /\.(m?ts|tsx|mjs)$/ }, async ({ path }) => {
      if (isOfPackage(path)) return undefined
      const source = await readFile(path, 'utf8')
      if (!source.includes('import.meta.url')) return undefined
      const place = JSON.stringify(relative(ROOT, path))
      return {
        contents: `const sourceUrl = new URL(${place}, checkoutUrl).href; ${source}`,
        loader: /[jt]sx?$/.exec(path)[0],
      }
    })
  },
}

const isOfPackage = (path) => path.includes('node_modules/')

function removeOld() {
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name)
    if (ageMs(path) > KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}
