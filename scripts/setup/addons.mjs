// Steps that make the two native addons: TensorFlow.js's binding, and SQLite's driver for Node 20.
// A step uses the addon prebuilt in the package if that fits, and compiles one otherwise.

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
/** Exists only in packages. */
const PREBUILT = join(ROOT, 'prebuilt')
const TENSORFLOW_WHEEL = join(ROOT, 'scripts/setup/wheels/tensorflow-cpu.txt')

/**
 * Compiles TensorFlow.js's binding, with our methods added, against the wheel's libtensorflow
 * instead of the one that its own install script would download.
 */
export function bindingStep() {
  const addon = join(BINDING_PACKAGE, 'lib/napi-v8/tfjs_binding.node')
  const marker = join(BINDING_PACKAGE, 'lib/.winnow-built')
  const mark = () => `${readText(join(RUNTIME, 'tensorflow/.unpacked'))} ${patchKey()}`
  const isDone = () => existsSync(addon) && readText(marker) === mark()
  // The same addon serves every version of Node, because its interface, Node-API 8, is stable.
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
      const names = ['--module_name=tfjs_binding', `--module_path=${dirname(addon)}`]
      const napi = ['--napi_version=8', '--napi_build_version=8', '--node_napi_label=napi-v8']
      await nodeGyp(['rebuild', '--silent', ...names, ...napi], sources)
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
 * Copies a prebuilt addon to its place, and checks that it works here; it may need a later libc,
 * for example.
 * @param path undefined if there is no prebuilt addon
 * @param load throws if the addon doesn't work
 * @returns whether the addon is in place and works
 */
async function takePrebuilt(path, addon, load) {
  if (path === undefined) return false
  mkdirSync(dirname(addon), { recursive: true })
  rmSync(addon, { force: true }) // processes that have it loaded keep the old file
  copyFileSync(path, addon)
  try {
    await load()
    return true
  } catch {
    console.log('      the prebuilt addon does not load here: compiling it')
    return false
  }
}

/**
 * Links the wheel's headers and libraries to where the binding's build and run path expect them.
 */
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
    const link = join(deps, name) // relative, so that a checkout can be moved or bind-mounted
    symlinkSync(isAbsolute(target) ? relative(dirname(link), target) : target, link)
  }
}

/**
 * Compiles SQLite's driver for Node 20 (see gateway/store/database.ts; the driver for later
 * versions comes prebuilt) from the sources in its package, whose hash npm has checked, and caches
 * the result. The package's own install script would download a binary without checking a hash.
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

/**
 * Reads a package's version from the lock file, because set-up needs it before packages are
 * installed.
 */
const lockedVersion = (name) =>
  JSON.parse(readText(join(ROOT, 'package-lock.json'))).packages[`node_modules/${name}`].version

const sqliteLoads = () =>
  loads("new (require('better-sqlite3-node20'))(':memory:').prepare('select 1').get()")

/** Points node-gyp to the headers next to the running node; without them it downloads some. */
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

/** Checks that an addon works, in another process, because a broken one would crash this one. */
function loads(expression) {
  const shims =
    "const u=require('util');u.isNullOrUndefined??=v=>v==null;u.isArray??=Array.isArray;"
  return execute(process.execPath, ['-e', `${shims}${expression}`], {
    env: { TF_CPP_MIN_LOG_LEVEL: '3' },
    quiet: true,
  })
}
