/** `winnow top`: the fleet in a terminal; see --help. */

import { top } from './top/command.ts'

const controller = new AbortController()
process.once('SIGINT', () => controller.abort())

const { env, stdout, stderr } = process
const signal = controller.signal
process.exitCode = await top(process.argv.slice(2), { env, stdout, stderr, signal })
