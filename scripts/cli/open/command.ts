import { spawn } from 'node:child_process'
import { createClient } from '../../../clients/typescript/node.ts'
import { createPass } from '../../../gateway/accounts/admin-pass.ts'
import { readFleet, readGateway, type Gateway } from '../admin-access.ts'
import { commandText } from '../command-name.ts'
import { action, command, FLAG, TEXT } from '../command.ts'
import { pageAddress } from '../page-address.ts'
import {
  describe,
  ONE_RETRY,
  readAccess,
  SERVICE,
  SERVICE_HELP,
  usualUrl,
  type Access,
  type Environment,
} from '../service-access.ts'

const HELP = `Usage: ${commandText('open', '[ID] [options]')}

Opens the page in a browser, signed in, at the request with this id if you give one. It also prints
the address, for a browser on another machine. The address signs in once, within ten minutes.

  --admin               open the admins' pages instead
  --token TOKEN         the ADMIN_TOKEN for them (or ADMIN_TOKEN in the environment; for a service
                        on this machine also the file admin-token in DATA_DIR)
${SERVICE_HELP}

With --admin, ADMIN_URL takes precedence over WINNOW_URL.
`

const ONCE = 'It signs in once, within ten minutes.'
const OPENED = `Opening a browser. ${ONCE} The address:\n`
const NOT_OPENED = `Open this address in a browser. ${ONCE}\n`

export const open = command({
  help: HELP,
  describe,
  actions: action({
    operands: ['[ID]'],
    options: { ...SERVICE, admin: FLAG, token: TEXT },
    async run(values, [requestId], { env, stderr, signal }) {
      const isNamed = values.url !== undefined || env.WINNOW_URL !== undefined
      const publicUrl = isNamed ? undefined : env.PUBLIC_URL?.replace(/\/+$/, '')
      const page = values.admin
        ? await adminPage(readGateway(values, env), signal, { clientsAt: usualUrl(env), publicUrl })
        : await ownPage(readAccess(values, env), requestId, publicUrl)
      const isOpened = await openBrowser(page, env)
      stderr.write(isOpened ? OPENED : NOT_OPENED)
      return `${page}\n`
    },
  }),
})

/**
 * @param publicUrl where browsers reach the service, if not where this command does: in a container
 * @throws Error if the service refuses the key, has no such request, or no page
 */
async function ownPage(access: Access, requestId?: string, publicUrl?: string): Promise<string> {
  const client = createClient({ ...access, ...ONE_RETRY })
  await (requestId === undefined ? client.account() : client.status(requestId))
  const { baseUrl: listening, apiKey: key = '' } = access
  const page = await pageAddress({ address: publicUrl ?? listening, listening, key, requestId })
  if (page === undefined) throw new Error(`${listening} has no page: PLAYGROUND is off there.`)
  return page
}

interface ClientAddresses {
  /** Where this command reaches the API of clients. */
  clientsAt: string
  /** Where browsers reach it, if elsewhere. */
  publicUrl: string | undefined
}

/** @throws NoAnswerError if the gateway refuses the token */
async function adminPage(
  gateway: Gateway,
  signal: AbortSignal,
  { clientsAt, publicUrl }: ClientAddresses,
): Promise<string> {
  await readFleet(gateway, signal)
  const { token: code } = createPass(gateway.token, 'code', Date.now())
  const address = gateway.url === clientsAt ? (publicUrl ?? gateway.url) : gateway.url
  return `${address}/#admin=${code}`
}

/** False if there is no display, or no program to open addresses. */
async function openBrowser(address: string, env: Environment): Promise<boolean> {
  const isMac = process.platform === 'darwin'
  if (!isMac && !env.DISPLAY && !env.WAYLAND_DISPLAY) return false
  const program = isMac ? 'open' : 'xdg-open'
  const opening = spawn(program, [address], { env, stdio: 'ignore', detached: true })
  opening.unref()
  return new Promise((resolve) =>
    opening.once('spawn', () => resolve(true)).once('error', () => resolve(false)),
  )
}
