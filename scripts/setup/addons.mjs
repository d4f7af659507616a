// Steps that make the two native addons: TensorFlow.js's binding and SQLite's driver for Node 20.
// Each is taken from the package, where that brings one that fits, or else compiled.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { layPatchedSources, patchKey } from './binding/patch.mjs'
import { execute } from './commands.mjs'
import { CACHE, readText, removeLeftovers, ROOT, RUNTIME } from './files.mjs'
import { findPrebuilt } from './prebuilt.mjs'

const BINDING_PACKAGE = join(ROOT, 'node_modules/@tensorflow/tfjs-node-gpu')
const SQLITE_PACKAGE = join(ROOT, 'node_modules/better-sqlite3-node20')
/** Only packages have it. */
const PREBUILT = join(ROOT, 'prebuilt')
const TENSORFLOW_WHEEL = join(ROOT, 'scripts/setup/wheels/tensorflow-cpu.txt')

/**
 * Compiles TensorFlow.js's binding, with our methods in it, against the wheel's libtensorflow, not
 * its own download.
 */
export function bindingStep() {
  const addon = join(BINDING_PACKAGE, 'lib/napi-v8/tfjs_binding.node')
  const marker = join(BINDING_PACKAGE, 'lib/.winnow-built')
  const mark = () => `${readText(join(RUNTIME, 'tensorflow/.unpacked'))} ${patchKey()}`
  const isDone = () => existsSync(addon) && readText(marker) === mark()
  // One for every Node: its interface, Node-API 8, is stable.
  const key = `tfjs_binding-tensorflow-${tensorFlowVersion()}-${patchKey().slice(0, 16)}`
  const prebuilt = () => findPrebuilt(PREBUILT, key)
  return {
    title: `TensorFlow.js binding${prebuilt() ? '' : ' (compiling)'}`,
    key,
    addon,
    needsCompiler: () => !isDone() && !prebuilt(),
    isDone,
    async run() {
      linkTensorFlow()
      if (await takePrebuilt(prebuilt(), addon, bindingLoads)) {
        writeFileSync(marker, mark())
        return
      }
      removeLeftovers(RUNTIME, '.binding-', 0)
      const sources = mkdtempSync(join(RUNTIME, '.binding-'))
      layPatchedSources(BINDING_PACKAGE, sources)
      symlinkSync(join(BINDING_PACKAGE, 'deps'), join(sources, 'deps'))
      await nodeGyp(
        [
          'rebuild',
          '--silent',
          '--module_name=tfjs_binding',
          `--module_path=${dirname(addon)}`,
          '--napi_version=8',
          '--napi_build_version=8',
          '--node_napi_label=napi-v8',
        ],
        sources,
      )
      rmSync(sources, { recursive: true })
      await bindingLoads()
      writeFileSync(marker, mark())
    },
  }
}

const tensorFlowVersion = () => /==([\d.]+)/.exec(readFileSync(TENSORFLOW_WHEEL, 'utf8'))[1]

const bindingLoads = () =>
  loads("require('@tensorflow/tfjs-node-gpu').backend().binding.addFunction.name")

/**
 * Copies the compiled addon to its place, unless it doesn't work here: compiled for a later libc,
 * say.
 * @param path undefined: there is none
 * @param load throws where the addon doesn't work
 */
async function takePrebuilt(path, addon, load) {
  if (path === undefined) return false
  mkdirSync(dirname(addon), { recursive: true })
  rmSync(addon, { force: true }) // who has it loaded keeps the old one
  copyFileSync(path, addon)
  try {
    await load()
    return true
  } catch {
    console.log('      the one in the package does not load here: compiling it')
    return false
  }
}

/** Lays the wheel's headers and libraries where the binding's build and run path expect them. */
function linkTensorFlow() {
  const deps = join(BINDING_PACKAGE, 'deps')
  const wheel = join(RUNTIME, 'tensorflow/tensorflow')
  const links = {
    include: join(wheel, 'include'),
    // libtensorflow finds the CUDA libraries at ../nvidia, relative to where it was loaded from.
    nvidia: join(RUNTIME, 'tensorflow/nvidia'),
    'lib/libtensorflow_cc.so.2': join(wheel, 'libtensorflow_cc.so.2'),
    'lib/libtensorflow_framework.so.2': join(wheel, 'libtensorflow_framework.so.2'),
    'lib/libtensorflow.so': 'libtensorflow_cc.so.2',
    'lib/libtensorflow_framework.so': 'libtensorflow_framework.so.2',
  }
  rmSync(deps, { recursive: true, force: true })
  mkdirSync(join(deps, 'lib'), { recursive: true })
  for (const [name, target] of Object.entries(links)) {
    const link = join(deps, name) // relative, so that a checkout can be moved, or bound elsewhere
    symlinkSync(isAbsolute(target) ? relative(dirname(link), target) : target, link)
  }
}

/**
 * SQLite's driver for Node 20 (see gateway/store/database.ts; the one for later Nodes comes built):
 * compiled from the sources in its package, whose hash npm has checked, and kept in the cache. Its
 * own install script would take a binary from a release page, without a hash.
 */
export function sqliteStep() {
  const addon = join(SQLITE_PACKAGE, 'build/Release/better_sqlite3.node')
  const marker = join(SQLITE_PACKAGE, 'build/.winnow-built')
  const { modules, napi } = process.versions
  const key = `better_sqlite3-${lockedVersion('better-sqlite3-node20')}-abi${modules}-compiled`
  const cached = join(CACHE, 'builds', `${key}.node`)
  const prebuilt = () => findPrebuilt(PREBUILT, key) ?? (existsSync(cached) ? cached : undefined)
  const isDone = () => Number(napi) >= 10 || (existsSync(addon) && readText(marker) === key)
  return {
    title: `SQLite driver${prebuilt() ? '' : ' (compiling, about a minute)'}`,
    key,
    addon,
    needsCompiler: () => !isDone() && !prebuilt(),
    isDone,
    async run() {
      if (!(await takePrebuilt(prebuilt(), addon, sqliteLoads))) {
        await nodeGyp(['rebuild', '--release', '--silent'], SQLITE_PACKAGE)
        await sqliteLoads()
        mkdirSync(dirname(cached), { recursive: true })
        copyFileSync(addon, `${cached}.partial`)
        renameSync(`${cached}.partial`, cached)
      }
      writeFileSync(marker, key)
    },
  }
}

/** The version of a package that the lock file names: set-up asks before it is installed. */
const lockedVersion = (name) =>
  JSON.parse(readText(join(ROOT, 'package-lock.json'))).packages[`node_modules/${name}`].version

const sqliteLoads = () =>
  loads("new (require('better-sqlite3-node20'))(':memory:').prepare('select 1').get()")

/** Node's headers where they stand next to the running node; node-gyp downloads them otherwise. */
function nodeHeaders() {
  const prefix = resolve(dirname(process.execPath), '..')
  return existsSync(join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : []
}

/** Compiles the addon whose sources are in `cwd`. */
function nodeGyp(words, cwd) {
  const script = join(ROOT, 'node_modules/node-gyp/bin/node-gyp.js')
  const options = ['--jobs=max', ...nodeHeaders()]
  return execute(process.execPath, [script, ...words, ...options], { cwd, quiet: true })
}

/** Checks in a process of its own that an addon works: a wrong one would take this process down. */
function loads(expression) {
  const shims =
    "const u=require('util');u.isNullOrUndefined??=v=>v==null;" + 'u.isArray??=Array.isArray;'
  return execute(process.execPath, ['-e', `${shims}${expression}`], {
    env: { TF_CPP_MIN_LOG_LEVEL: '3' },
    quiet: true,
  })
}
