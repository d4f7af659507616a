// Compiles the service's programs into .runtime/programs, each bundled with our modules that it
// imports. Node 20 asks a second thread about every module that tsx might have to compile,
// including those of packages, so a compiled gateway starts in a third of the time.

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
/** Lists the source files of the latest compiled programs, relative to the root of the checkout. */
const INPUTS = join(FOLDER, 'inputs.json')
/**
 * How long older versions are kept, because services that still run may load programs from them.
 */
const KEPT_MS = 7 * 24 * 3_600_000

/** Error codes for a folder that belongs to another user or is read-only. */
const MAY_NOT_WRITE = ['EACCES', 'EPERM', 'EROFS']

/** Paths relative to the root of the checkout. */
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

/** Returns the file name of a compiled program (shared/process/programs.ts has the same rule). */
export const compiledName = (program) => program.replaceAll('/', '.').replace(/ts$/, 'mjs')

/**
 * Returns the path of a program compiled from the current sources; null if it is not one of
 * `PROGRAMS`, or cannot be compiled here, in which case tsx has to run it.
 * @param program relative to the root of the checkout
 */
export async function compiledProgram(program) {
  if (!PROGRAMS.includes(program)) return null
  const folder = folderOfSources() ?? (await compile())
  return folder && join(folder, compiledName(program))
}

/**
 * The step of set-up that compiles the programs, so that the first start need not wait and packages
 * contain them.
 */
export function programsStep() {
  return {
    title: 'the programs',
    isDone: () => folderOfSources() !== null,
    async run() {
      await compile()
    },
  }
}

/** Returns the folder of programs compiled from the current sources, or null. */
function folderOfSources() {
  if (!existsSync(INPUTS)) return null
  const folder = folderOf(JSON.parse(readFileSync(INPUTS, 'utf8')))
  return existsSync(folder) ? folder : null
}

/** Returns the folder for programs made of these files, named by their hash. */
function folderOf(inputs) {
  const hash = createHash('sha256')
  for (const input of inputs) {
    const path = join(ROOT, input)
    hash.update(`${input}\n`).update(existsSync(path) ? readFileSync(path) : '')
  }
  return join(FOLDER, hash.digest('hex').slice(0, 16))
}

/**
 * Compiles all programs. Several processes may do so at once, so each works in its own folder and
 * renames the complete result.
 */
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

/** Renames a folder, unless another process has made the same one in the meantime. */
function rename(from, to) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!existsSync(to)) throw error
  }
}

/**
 * Returns the options with which esbuild compiles our programs.
 * @param outdir must be three folders below the root of the checkout
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
    // Each module gets the URL of its source in place of import.meta.url, so that it finds the
    // files next to its source.
    banner: { js: "const checkoutUrl = new URL('../../../', import.meta.url);" },
    define: { 'import.meta.url': 'sourceUrl' },
  }
}

/** Packages of hundreds of small modules, which load in a tenth of the time when bundled. */
const COMPILED_PACKAGES = /^(typebox|kysely|fast-check|pure-rand)(\/|$)/

/** Leaves imports of all other packages to node_modules. */
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
