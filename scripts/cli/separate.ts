/** The command-line client: `npm run separate -- <file or https URL> "<prompt>"`; see --help. */

import { separate } from './separate/command.ts'

const controller = new AbortController()
process.once('SIGINT', () => controller.abort()) // a second Ctrl-C ends the process at once

const { env, stdin, stdout, stderr } = process
process.exitCode = await separate(process.argv.slice(2), {
  env,
  stdin,
  stdout,
  stderr,
  signal: controller.signal,
})
