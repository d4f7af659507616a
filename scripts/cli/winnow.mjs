// `winnow COMMAND …` in a package, `npm run winnow -- COMMAND …` in a checkout: runs a command by
// its name. The two differ in installation.mjs alone: a package has its own.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import {
  CALLED,
  HAS_HOSTS,
  MANIFEST,
  MORE_PROGRAMS,
  NOTE,
  prepareApp,
  runClient,
} from './installation.mjs'
import { COMMANDS, helpOfCommands } from './table.mjs'

const HELP = `${helpOfCommands()}
${NOTE}`

/** Those that are passed on to the program. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

if (CALLED) process.env.WINNOW_PACKAGED = CALLED // so that what we run names its commands so
const [command = '--help', ...words] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8'))
if (command === '--help' || command === '-h') console.log(HELP)
else if (command === '--version') console.log(version)
else if (Object.hasOwn(COMMANDS, command) && COMMANDS[command].isClient) await runClient(command)
else if (programOf(command)) await runInApp(programOf(command))
else {
  console.error(`There is no command "${command}".\n\n${HELP}`)
  process.exitCode = 2
}

/** The program of a command, and its first words; undefined: there is no such command here. */
function programOf(command) {
  if (command === 'start') return ['scripts/cli/start.ts']
  if (Object.hasOwn(MORE_PROGRAMS, command)) return [MORE_PROGRAMS[command]]
  const isHere = Object.hasOwn(COMMANDS, command) && (HAS_HOSTS || !COMMANDS[command].isForHosts)
  return isHere ? ['scripts/cli/main.ts', command] : undefined
}

async function runInApp([program, ...first]) {
  const app = await prepareApp(version, run)
  process.exitCode = await run([`${app}/scripts/run.mjs`, `${app}/${program}`, ...first, ...words])
}

/** Runs node with our terminal and signals; resolves with its exit code. */
function run(args) {
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  const pass = (signal) => child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, pass)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      for (const name of SIGNALS) process.off(name, pass)
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1))
    })
  })
}
