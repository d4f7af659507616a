/** Lists and deletes requests: `npm run winnow -- requests list`; see --help. */

import { requests } from './requests/command.ts'

const controller = new AbortController()
process.once('SIGINT', () => controller.abort())

const { env, stdout, stderr } = process
const { signal } = controller
process.exitCode = await requests(process.argv.slice(2), { env, stdout, stderr, signal })
