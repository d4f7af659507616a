/**
 * Plans a host that runs Winnow, as data. A dry run shows the plan, and apply.ts carries it out.
 */

import { join } from 'node:path'
import { natsUsers, type NatsPasswords } from '../start/nats-users.ts'

export const ROLES = ['gateway', 'engine', 'all'] as const
export type Role = (typeof ROLES)[number]

export type Step =
  | { do: 'folder'; path: string; mode: number }
  /** With `keep`, an existing file stays as it is. */
  | { do: 'file'; path: string; mode: number; text: string; keep: boolean }
  | { do: 'remove'; path: string }
  /** With `online`, the step acts on the running systemd, so it is skipped under another root. */
  | { do: 'run'; words: readonly string[]; online: boolean }

export interface Host {
  role: Role
  /** The checkout, and the Node that runs it. */
  checkout: string
  node: string
  /** Names of the engine instances: number or UUID of a GPU, or `cpu`. */
  engines: readonly string[]
  /** The broker's address for each service. */
  natsUrls: NatsPasswords
  /** The settings of the broker, if this host runs it. */
  natsSettings: string | undefined
  /** Whether the broker differs from the one that was set before. */
  newBroker: boolean
  /** Whether Debian's package is installed, which contains the files of `planPackage`. */
  isPackaged: boolean
  /** Returns the text of a file in scripts/cli/install-host/units. */
  unit: (name: string) => string
}

const UNITS = '/etc/systemd/system'
const PACKAGED_UNITS = '/usr/lib/systemd/system'
const SETTINGS = '/etc/winnow'
const USERS = 'winnow.sysusers.conf'
const USERS_FILE = '/etc/sysusers.d/winnow.conf'
const PACKAGED_USERS_FILE = '/usr/lib/sysusers.d/winnow.conf'
/** Address of a broker on this host. */
export const OWN_BROKER = '127.0.0.1:4222'

/** Units of each role, in addition to the target. */
const GATEWAY = ['winnow-gateway.service', 'winnow-gateway.socket', 'winnow-gateway-grpc.socket']
const ENGINE = ['winnow-engine@.service']
const NATS = ['winnow-nats.service']
const TARGET = 'winnow.target'

const runsGateway = ({ role }: Pick<Host, 'role'>) => role !== 'engine'
const runsEngines = ({ role }: Pick<Host, 'role'>) => role !== 'gateway'

/** All steps, in order; repeating them changes nothing. */
export function planInstall(host: Host): Step[] {
  const units = [
    TARGET,
    ...(runsGateway(host) ? GATEWAY : []),
    ...(runsEngines(host) ? ENGINE : []),
    ...(host.natsSettings !== undefined ? NATS : []),
  ]
  const instances = units.flatMap((unit) =>
    unit.includes('@') ? host.engines.map((engine) => unit.replace('@', `@${engine}`)) : [unit],
  )
  const users: Step[] = [
    { do: 'file', path: USERS_FILE, mode: 0o644, text: host.unit(USERS), keep: false },
    { do: 'run', words: ['systemd-sysusers', 'winnow.conf'], online: false },
  ]
  return [
    ...(host.isPackaged ? [] : users),
    { do: 'folder', path: SETTINGS, mode: 0o755 },
    file('winnow.env', 0o644, SETTINGS_TEXT, true),
    ...credentials(host),
    ...(host.isPackaged ? [] : units.map((unit) => unitStep(UNITS, unit, host))),
    { do: 'run', words: ['systemctl', 'daemon-reload'], online: true },
    { do: 'run', words: ['systemctl', 'enable', ...instances], online: false },
  ]
}

/** The files of all this that Debian's package contains, below its root. */
export function planPackage(host: Pick<Host, 'checkout' | 'node' | 'unit'>): Step[] {
  const users = host.unit(USERS)
  return [
    { do: 'file', path: PACKAGED_USERS_FILE, mode: 0o644, text: users, keep: false },
    file('winnow.env', 0o644, SETTINGS_TEXT, false),
    ...[TARGET, ...GATEWAY, ...ENGINE, ...NATS].map((unit) => unitStep(PACKAGED_UNITS, unit, host)),
  ]
}

const unitStep = (
  folder: string,
  unit: string,
  host: Pick<Host, 'checkout' | 'node' | 'unit'>,
): Step => ({
  do: 'file',
  path: join(folder, unit),
  mode: 0o644,
  text: placed(host.unit(unit), host),
  keep: false,
})

/**
 * Stops the units and removes them, except for those of Debian's package. Settings, secrets, data
 * and users stay.
 * @param isThere whether a file exists, because systemd refuses to stop a unit that it does not
 *   know, and a host may have only those of its role
 */
export function planUninstall(
  instances: readonly string[],
  isPackaged: boolean,
  isThere: (path: string) => boolean,
): Step[] {
  const folder = isPackaged ? PACKAGED_UNITS : UNITS
  const units = [TARGET, ...GATEWAY, ...ENGINE, ...NATS].filter((unit) =>
    isThere(join(folder, unit)),
  )
  const named = units.flatMap((unit) => (unit.includes('@') ? instances : [unit]))
  return [
    { do: 'run', words: ['systemctl', 'stop', ...named], online: true },
    { do: 'run', words: ['systemctl', 'disable', ...named], online: false },
    ...(isPackaged ? [] : [...units.map((unit) => join(UNITS, unit)), USERS_FILE]).map(
      (path): Step => ({ do: 'remove', path }),
    ),
    { do: 'run', words: ['systemctl', 'daemon-reload'], online: true },
  ]
}

/** The units are written for /opt/winnow and /usr/bin/node. */
const placed = (text: string, { checkout, node }: Pick<Host, 'checkout' | 'node'>): string =>
  text.replaceAll('/opt/winnow', checkout).replaceAll('/usr/bin/node', node)

const file = (name: string, mode: number, text: string, keep: boolean): Step => ({
  do: 'file',
  path: join(SETTINGS, name),
  mode,
  text,
  keep,
})

/** Readable by root alone; systemd passes each service its own. */
function credentials(host: Host): Step[] {
  const { natsUrls, natsSettings, newBroker } = host
  const services = [
    ...(runsGateway(host) ? (['gateway'] as const) : []),
    ...(runsEngines(host) ? (['engine'] as const) : []),
  ]
  return [
    { do: 'folder', path: join(SETTINGS, 'credentials'), mode: 0o700 },
    ...services.flatMap((service): Step[] => [
      { do: 'folder', path: join(SETTINGS, 'credentials', service), mode: 0o700 },
      file(join('credentials', service, 'NATS_URL'), 0o600, `${natsUrls[service]}\n`, !newBroker),
    ]),
    ...(natsSettings === undefined ? [] : [file('nats.conf', 0o600, natsSettings, true)]),
  ]
}

export const natsText = (passwords: NatsPasswords): string =>
  [
    '# Engines on other hosts need an address here that they reach, on a private network, and in',
    '# their NATS_URL, with the user engine and its password.',
    `listen: "${OWN_BROKER}"`,
    'jetstream { store_dir: "/var/lib/winnow-nats" }',
    ...natsUsers(passwords),
    '',
  ].join('\n')

const SETTINGS_TEXT = `# Settings of gateway and engines on this host: docs/reference/settings.md.
# Secrets do not belong here: each file in credentials/gateway and credentials/engine is the setting
# of its name.
# Where the gateway listens stands in winnow-gateway.socket (sudo systemctl edit).
LOG_LEVEL=info
`
