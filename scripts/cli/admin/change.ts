/** Actions of `keys` and `accounts`, which work on the database directly. */

import { hostname, userInfo } from 'node:os'
import type { ChangeDeps } from '../../../gateway/accounts/accounts.ts'
import { openDatabase } from '../../../gateway/store/driver/open.ts'
import { loadDatabaseConfig } from '../../../gateway/config.ts'
import { systemClock } from '../../../shared/clock.ts'
import { action, FLAG, type Action, type CommandIo } from '../command.ts'
import { printed } from './print.ts'

type Options = NonNullable<Action['options']>
type Values<O extends Options> = Parameters<Action<O & typeof JSON_FLAG>['run']>[0]

const JSON_FLAG = { json: FLAG }

/** The last paragraph of their help, after what they keep. */
export const END_OF_HELP = `\
 are kept in the database in DATA_DIR (default ./data); a running gateway notices changes at
once. --json prints JSON for programs. The exit code is 0 if done, 1 if refused, and 2 if the
command line is wrong.
`

/**
 * Creates an action that prints what `work` returns.
 * @param operands such as `ID SECONDS`
 */
export const change = <const O extends Options>(
  operands: string,
  options: O,
  work: (deps: ChangeDeps, values: Values<O>, ...operands: string[]) => Promise<object>,
) =>
  action({
    operands: operands.split(' ').filter(Boolean),
    options: { ...options, ...JSON_FLAG },
    async run(values, words, io: CommandIo) {
      const answer = await withDatabase(io, (deps) => work(deps, values as Values<O>, ...words))
      return answerText(answer, (values as { json: boolean }).json)
    },
  })

export const answerText = (answer: object, asJson: boolean): string =>
  asJson ? `${JSON.stringify(answer)}\n` : printed(answer)

/** Gateways may be running; the database isolates us from them. */
export async function withDatabase<T>(
  { env, stderr }: CommandIo,
  use: (deps: ChangeDeps) => Promise<T>,
): Promise<T> {
  process.umask(0o077) // what is in the data folder is nobody else's business
  const store = await openDatabase(loadDatabaseConfig(env), logTo(stderr))
  try {
    const author = { tool: 'command_line', origin: originOf(env) } as const
    return await use({ store, clock: systemClock, author })
  } finally {
    await store.destroy()
  }
}

/** Returns a log that prints warnings. */
export const logTo = (stderr: CommandIo['stderr']) => ({
  warn: (_details: object, message: string) => void stderr.write(`${message}\n`),
})

/** Who runs the tool and where; behind sudo, who called it. */
function originOf({ SUDO_USER }: CommandIo['env']): string {
  return `${SUDO_USER ?? userName()}@${hostname()}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}` // in a container, the user may have no name
  }
}
