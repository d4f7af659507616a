// `winnow COMMAND …` in a package, `npm run winnow -- COMMAND …` in a checkout: runs a command by
// its name. The two differ in installation.mjs alone: a package has its own.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { CALLED, MANIFEST, MORE_PROGRAMS, NOTE, prepareApp, runClient } from './installation.mjs'

const HELP = `winnow start                            runs the service on this machine
winnow separate FILES… "PROMPT"…        separates with a running service (--help: its options)
winnow sounds FILES…                     lists the sounds in files, with a running service
winnow requests list | delete | share   lists, deletes and shares requests of a running service
winnow open [ID]                        opens the page of a running service, at a request
winnow keys | accounts | database | backup | doctor | top | model
                                        the operator's tools (--help: their commands)
winnow completion bash | zsh | fish     prints a script for the shell, which completes all of this
winnow --version
${NOTE}`

/** The commands that talk to a running service and need nothing else. */
const CLIENTS = ['separate', 'sounds', 'requests', 'open']

/** The commands that need the service's sources, and their programs. */
const PROGRAMS = {
  ...Object.fromEntries(
    [
      ...['start', 'keys', 'accounts', 'database', 'backup', 'doctor', 'top', 'model'],
      'completion',
    ].map((name) => [name, `scripts/cli/${name}.ts`]),
  ),
  ...MORE_PROGRAMS,
}

/** Those that are passed on to the program. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

if (CALLED) process.env.WINNOW_PACKAGED = CALLED // so that what we run names its commands so
const [command = '--help', ...words] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8'))
if (command === '--help' || command === '-h') console.log(HELP)
else if (command === '--version') console.log(version)
else if (CLIENTS.includes(command)) {
  process.argv.splice(2, 1)
  await runClient(command)
} else if (Object.hasOwn(PROGRAMS, command)) await runInApp(PROGRAMS[command])
else {
  console.error(`There is no command "${command}".\n\n${HELP}`)
  process.exitCode = 2
}

async function runInApp(program) {
  const app = await prepareApp(version, run)
  process.exitCode = await run([`${app}/scripts/run.mjs`, `${app}/${program}`, ...words])
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
