/** The command line of `install-host`. */

import { execFileSync } from 'node:child_process'
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
import { apply } from './apply.ts'
import { newPasswords, natsUrls, passwordsIn, NATS_USERS } from '../start/nats-users.ts'
import { natsText, OWN_BROKER, planInstall, planUninstall, ROLES, type Role } from './plan.ts'

const HELP = `Usage: sudo ${commandText('install-host', '--role gateway|engine|all [options]')}
       sudo ${commandText('install-host', '--uninstall')}

Makes this host run this Winnow under systemd: users, settings and secrets in
/etc/winnow, units. What is there already in /etc/winnow is kept. Nothing is started.
  --role       gateway: the gateway and its broker; engine: an engine for each GPU; all: both
  --engine ID  an engine for this GPU, by number or UUID, or cpu; may come several times
               (default: one for each GPU that nvidia-smi lists, else cpu)
  --dry-run    shows what would be done
  --root DIR   installs below DIR, as into an image
  --uninstall  stops and removes the units; settings, secrets, data and users stay

NATS_URL in the environment: the broker is there, and none is run here. Needed for role engine at
the first time. The exit code is 0 when all is done, 1 when something is in the way, 2 when the
command line is wrong.
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

/** Something on this host prevents the installation; the message says what would help. */
class InstallError extends Error {}

interface Place {
  root: string
  dryRun: boolean
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
    run(options, _operands, { env, stdout, installed = HERE }: InstallIo) {
      const { engine: engines, uninstall: isUninstall, 'dry-run': dryRun } = options
      const wrong = engines.find((each) => !ENGINE_ID.test(each))
      if (wrong !== undefined) {
        throw new UsageError(`--engine must be a GPU's number or UUID, or cpu, not "${wrong}".`)
      }
      const role = oneOf('--role', options.role, ROLES)
      const place = { root: options.root === '' ? '' : resolve(options.root), dryRun }
      const say = (line: string) => void stdout.write(`${line}\n`)
      if (isUninstall) uninstall(place, env, say)
      else if (role) install({ role, engines, ...place }, { env, installed }, say)
      else throw new UsageError(`--role must be one of ${ROLES.join(', ')}.`)
      return 0
    },
  }),
})

function install(
  { role, engines, root, dryRun }: Place & { role: Role; engines: readonly string[] },
  { env, installed }: Required<Pick<InstallIo, 'env' | 'installed'>>,
  say: (line: string) => void,
): void {
  if (!dryRun) assertMay(root)
  assertVisible(installed)
  const broker = brokerOf(env.NATS_URL?.trim(), root)
  if (role === 'engine' && !broker.isKnown) {
    throw new InstallError(
      'Where is the broker? Set NATS_URL for this command, such as ' +
        'sudo NATS_URL=nats://engine:PASSWORD@gateway-host:4222 ' +
        `${commandText('install-host', '--role engine')}.`,
    )
  }
  const steps = planInstall({
    role,
    ...installed,
    engines: engines.length > 0 ? engines : listGpus(),
    natsUrls: broker.urls,
    natsSettings: role === 'engine' ? undefined : broker.settings,
    newBroker: broker.isNew,
    isPackaged: isPackaged(env),
    unit: (name) =>
      readFileSync(join(HERE.checkout, 'scripts/cli/install-host/units', name), 'utf8'),
  })
  apply(steps, { root, dryRun, say })
  say(dryRun ? '\nNothing was changed.' : DONE)
}

/** Whether this was started by the command of Debian's package. */
const isPackaged = (env: CommandIo['env']): boolean => env.WINNOW_PACKAGED !== undefined

/** The broker that is requested or was set before, or otherwise a new one on this host. */
function brokerOf(asked: string | undefined, root: string) {
  const settings = join(root, '/etc/winnow')
  const read = (path: string) =>
    existsSync(join(settings, path)) ? readFileSync(join(settings, path), 'utf8').trim() : undefined
  const [gateway, engine] = NATS_USERS.map((service) => read(`credentials/${service}/NATS_URL`))
  const known = asked || gateway || engine
  const made = known ? null : newPasswords()
  const present = asked ? undefined : read('nats.conf')
  const users = made ?? (present === undefined ? null : passwordsIn(present))
  return {
    urls: users
      ? natsUrls(users, known ? new URL(known).host : OWN_BROKER)
      : { gateway: known!, engine: known! },
    settings: made ? natsText(made) : present,
    isKnown: Boolean(known),
    isNew: Boolean(asked),
  }
}

const DONE = `
Settings: /etc/winnow/winnow.env and /etc/winnow/credentials. Then:
  sudo systemctl start winnow.target      # also after every start of the host
  systemctl status 'winnow*'
  sudo ${commandText('doctor').padEnd(34)} # what this host lacks`

function uninstall(
  { root, dryRun }: Place,
  env: CommandIo['env'],
  say: (line: string) => void,
): void {
  if (!dryRun) assertMay(root)
  const wantsFolder = join(root, '/etc/systemd/system/winnow.target.wants')
  const instances = existsSync(wantsFolder)
    ? readdirSync(wantsFolder).filter((name) => name.startsWith('winnow-engine@'))
    : []
  const packaged = isPackaged(env)
  const isInstalled = packaged || existsSync(join(root, '/etc/systemd/system/winnow.target'))
  if (isInstalled) apply(planUninstall(instances, packaged), { root, dryRun, say })
  say(
    isInstalled
      ? 'These stay: /etc/winnow, /var/lib/winnow, /var/lib/winnow-nats and the users winnow*.'
      : 'Winnow is not installed here: nothing to remove.',
  )
}

/** @throws InstallError */
function assertMay(root: string): void {
  if (root !== '') return
  if (process.getuid?.() !== 0) throw new InstallError('Only root can do this: begin with sudo.')
  if (!existsSync('/run/systemd/system')) {
    throw new InstallError('systemd does not run here. Give --root to install into an image.')
  }
}

/** Why services could not run what is `installed`; undefined if they could. */
export function hindranceOf(installed = HERE): string | undefined {
  try {
    assertVisible(installed)
    return undefined
  } catch (error) {
    if (error instanceof InstallError) return error.message
    throw error
  }
}

/** Services only see what systemd does not hide. @throws InstallError */
function assertVisible({ checkout, node }: typeof HERE): void {
  const hiding = HIDDEN.find((folder) => node.startsWith(`${folder}/`))
  if (hiding) {
    throw new InstallError(
      `${node}: ${hiding} is hidden from the services. ` +
        'Install Node for all users, for instance in /usr/bin, and begin with that one.',
    )
  }
  const move = 'Move the checkout, for instance to /opt/winnow, and install from there.'
  if (!/^[\w./+@-]+$/.test(checkout)) {
    throw new InstallError(`${checkout} has characters that units take for others. ${move}`)
  }
  const hidden = HIDDEN.find((folder) => checkout.startsWith(`${folder}/`))
  if (hidden) throw new InstallError(`${hidden} is hidden from the services. ${move}`)
  for (let folder = checkout; folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) {
      throw new InstallError(
        `${folder} can't be read by other users, such as the services'. ${move}`,
      )
    }
  }
}

/** UUIDs of the GPUs here; `cpu` if there are none. */
function listGpus(): string[] {
  try {
    const text = execFileSync('nvidia-smi', ['--query-gpu=uuid', '--format=csv,noheader'])
    const gpus = text.toString().split('\n').filter(Boolean)
    return gpus.length > 0 ? gpus : ['cpu']
  } catch {
    return ['cpu'] // no working driver; doctor reports it
  }
}
