/** The command line of `install-host`. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandText } from '../command-name.ts'
import {
  action,
  command,
  FLAG,
  oneOf,
  TEXT,
  TEXTS,
  UsageError,
  type CommandIo,
} from '../command.ts'
import { listGpus } from '../machine.ts'
import { newPasswords, natsUrls, passwordsIn, NATS_USERS } from '../start/nats-users.ts'
import { apply, type Place } from './apply.ts'
import { natsText, OWN_BROKER, planInstall, planUninstall, ROLES, type Role } from './plan.ts'

const HELP = `Usage: sudo ${commandText('install-host', '--role gateway|engine|all [options]')}
       sudo ${commandText('install-host', '--uninstall')}

Installs this Winnow on this host under systemd: users, units, and settings and secrets in
/etc/winnow. Existing files in /etc/winnow are kept. Nothing is started.

  --role       gateway: the gateway and its broker; engine: an engine for each GPU; all: both
  --engine ID  an engine for this GPU, by number or UUID, or cpu; repeatable
               (default: one for each GPU that nvidia-smi lists, otherwise cpu)
  --dry-run    show what would be done
  --root DIR   install below DIR, for example into an image
  --uninstall  stop and remove the units; settings, secrets, data and users stay

With NATS_URL in the environment, that broker is used, and none is installed here. The first
installation with role engine requires it. The exit code is 0 if done, 1 if something is in the way,
and 2 if the command line is wrong.
`

/** This checkout, and the Node that is running. */
const HERE = {
  checkout: fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, ''),
  node: process.execPath,
}
/** Hidden from the services by ProtectHome= and PrivateTmp=. */
const HIDDEN = ['/home', '/root', '/run/user', '/tmp', '/var/tmp']
const ENGINE_ID = /^[A-Za-z0-9:_.-]{1,64}$/

interface InstallIo extends CommandIo {
  /** The files that the services run. */
  installed?: { checkout: string; node: string }
}

export const installHost = command({
  help: HELP,
  actions: action({
    options: {
      role: TEXT,
      engine: { ...TEXTS, default: [] },
      root: { ...TEXT, default: '' },
      'dry-run': FLAG,
      uninstall: FLAG,
    },
    async run(options, _operands, { env, stdout, installed = HERE }: InstallIo) {
      const { engine: engines, uninstall: isUninstall, 'dry-run': dryRun } = options
      const wrong = engines.find((id) => !ENGINE_ID.test(id))
      if (wrong !== undefined) {
        throw new UsageError(`--engine must be a GPU's number or UUID, or cpu, not "${wrong}".`)
      }
      const role = oneOf('--role', options.role, ROLES)
      const root = options.root === '' ? '' : resolve(options.root)
      const place = { root, dryRun, say: (line: string) => void stdout.write(`${line}\n`) }
      if (isUninstall) uninstall(place, env)
      else if (role) await install({ role, engines, installed }, place, env)
      else throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`)
      return 0
    },
  }),
})

interface Choices {
  role: Role
  engines: readonly string[]
  installed: typeof HERE
}

async function install(
  { role, engines, installed }: Choices,
  place: Place,
  env: CommandIo['env'],
): Promise<void> {
  assertMay(place)
  const hindrance = hindranceOf(installed)
  if (hindrance !== undefined) throw new Error(hindrance)
  const broker = brokerOf(env.NATS_URL?.trim(), place.root)
  if (role === 'engine' && !broker.isKnown) {
    throw new Error(
      'Where is the broker? Set NATS_URL for this command, such as ' +
        'sudo NATS_URL=nats://engine:PASSWORD@gateway-host:4222 ' +
        `${commandText('install-host', '--role engine')}.`,
    )
  }
  const steps = planInstall({
    role,
    ...installed,
    engines: engines.length > 0 ? engines : await enginesHere(),
    natsUrls: broker.urls,
    natsSettings: role === 'engine' ? undefined : broker.settings,
    newBroker: broker.isNew,
    isPackaged: isPackaged(env),
    unit: (name) =>
      readFileSync(join(HERE.checkout, 'scripts/cli/install-host/units', name), 'utf8'),
  })
  apply(steps, place)
  place.say(place.dryRun ? '\nNothing was changed.' : DONE)
}

/** Whether this was started by the command of Debian's package. */
const isPackaged = (env: CommandIo['env']): boolean => env.WINNOW_PACKAGED !== undefined

/** The broker that is requested or was set before, or otherwise a new one on this host. */
function brokerOf(requested: string | undefined, root: string) {
  const settings = join(root, '/etc/winnow')
  const read = (path: string) =>
    existsSync(join(settings, path)) ? readFileSync(join(settings, path), 'utf8').trim() : undefined
  const [gateway, engine] = NATS_USERS.map((service) => read(`credentials/${service}/NATS_URL`))
  const url = requested || gateway || engine
  const fresh = url ? null : newPasswords()
  const present = requested ? undefined : read('nats.conf')
  const users = fresh ?? (present === undefined ? null : passwordsIn(present))
  return {
    urls: users
      ? natsUrls(users, url ? new URL(url).host : OWN_BROKER)
      : { gateway: url!, engine: url! },
    settings: fresh ? natsText(fresh) : present,
    isKnown: Boolean(url),
    isNew: Boolean(requested),
  }
}

const DONE = `
Settings: /etc/winnow/winnow.env and /etc/winnow/credentials. Then:
  sudo systemctl start winnow.target      # also after every start of the host
  systemctl status 'winnow*'
  sudo ${commandText('doctor').padEnd(34)} # what this host lacks`

function uninstall(place: Place, env: CommandIo['env']): void {
  assertMay(place)
  const { root } = place
  const isThere = (path: string) => existsSync(join(root, path))
  const wantsFolder = '/etc/systemd/system/winnow.target.wants'
  const instances = isThere(wantsFolder)
    ? readdirSync(join(root, wantsFolder)).filter((name) => name.startsWith('winnow-engine@'))
    : []
  const packaged = isPackaged(env)
  const isInstalled = packaged || isThere('/etc/systemd/system/winnow.target')
  if (isInstalled) apply(planUninstall(instances, packaged, isThere), place)
  place.say(
    isInstalled
      ? 'These stay: /etc/winnow, /var/lib/winnow, /var/lib/winnow-nats and the users winnow*.'
      : 'Winnow is not installed here: nothing to remove.',
  )
}

/**
 * Checks that this process may change this host. Below another root it may change everything.
 * @throws Error
 */
function assertMay({ root, dryRun }: Place): void {
  if (dryRun || root !== '') return
  if (process.getuid?.() !== 0) throw new Error('Only root can do this: begin with sudo.')
  if (!existsSync('/run/systemd/system')) {
    throw new Error('systemd does not run here. Give --root to install into an image.')
  }
}

/** Why services could not run what is `installed`; undefined if they could. */
export function hindranceOf({ checkout, node } = HERE): string | undefined {
  const hiddenFolderOf = (path: string) => HIDDEN.find((folder) => path.startsWith(`${folder}/`))
  const nodeFolder = hiddenFolderOf(node)
  if (nodeFolder) {
    return (
      `${node}: ${nodeFolder} is hidden from the services. ` +
      'Install Node for all users, for instance in /usr/bin, and begin with that one.'
    )
  }
  const move = 'Move the checkout, for instance to /opt/winnow, and install from there.'
  if (!/^[\w./+@-]+$/.test(checkout)) {
    return `${checkout} has characters that units take for others. ${move}`
  }
  const checkoutFolder = hiddenFolderOf(checkout)
  if (checkoutFolder) return `${checkoutFolder} is hidden from the services. ${move}`
  for (let folder = checkout; folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) {
      return `${folder} can't be read by other users, such as the services'. ${move}`
    }
  }
  return undefined
}

/** UUIDs of the GPUs here; `cpu` if there are none. */
async function enginesHere(): Promise<string[]> {
  const gpus = await listGpus().catch(() => []) // no working driver; doctor reports it
  return gpus.length > 0 ? gpus.map(({ uuid }) => uuid) : ['cpu']
}
