// `winnow`, as a package installs it. `separate` and `requests` are clients without dependencies and
// run at once; every other command runs the service's own sources, which app.mjs finds.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { CALLED, MORE_COMMANDS, NOTE, prepareApp } from './app.mjs'

const HELP = `winnow start                            runs the service on this machine
winnow separate FILES… "PROMPT"…        separates with a running service (--help: its options)
winnow requests list | delete ID…       lists and deletes requests of a running service
winnow keys | accounts | database | backup | doctor | top | model | parity
                                        the operator's tools (--help: their commands)
winnow --version
${NOTE}`

const CLIENTS = {
  separate: () => import('./separate.mjs'),
  requests: () => import('./requests.mjs'),
}
/** The commands that need the service's sources. */
const COMMANDS = 'start keys accounts database backup doctor top model parity'.split(' ')

process.env.WINNOW_PACKAGED = CALLED // so that what we run names its commands as we are called
const [command = '--help', ...words] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
if (command === '--help' || command === '-h') console.log(HELP)
else if (command === '--version') console.log(version)
else if (Object.hasOwn(CLIENTS, command)) {
  process.argv.splice(2, 1)
  await CLIENTS[command]()
} else if ([...COMMANDS, ...MORE_COMMANDS].includes(command)) await runInApp()
else {
  console.error(`There is no command "${command}".\n\n${HELP}`)
  process.exitCode = 2
}

async function runInApp() {
  const app = await prepareApp(version, run)
  const loader = new URL(`file://${app}/node_modules/tsx/dist/loader.mjs`).href
  process.exitCode = await run(['--import', loader, `${app}/scripts/cli/${command}.ts`, ...words])
}

/** Runs node with our terminal and signals; resolves with its exit code. */
function run(args) {
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  const pass = (signal) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, pass)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      for (const name of ['SIGINT', 'SIGTERM']) process.off(name, pass)
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1))
    })
  })
}
