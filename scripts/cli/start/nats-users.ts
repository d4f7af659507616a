/**
 * The broker's users, and what a gateway and an engine may do there. `ops/nats-cluster.conf` has
 * the same lines.
 */

import { randomBytes } from 'node:crypto'

/** The names of the users, which are also those of the services. */
export const NATS_USERS = ['gateway', 'engine'] as const
export type NatsPasswords = Readonly<Record<(typeof NATS_USERS)[number], string>>

export const newPasswords = (): NatsPasswords => ({ gateway: newPassword(), engine: newPassword() })

const newPassword = () => randomBytes(24).toString('base64url')

const API = '$JS.API'

/** Stores and takes jobs and events, and makes the streams. */
const GATEWAY = {
  publish: [
    'jobs.>',
    'dead.*',
    'requests.changed',
    `${API}.INFO`,
    ...['LIST', 'INFO.*', 'CREATE.*', 'UPDATE.*', 'MSG.GET.*', 'MSG.DELETE.*'].map(
      (call) => `${API}.STREAM.${call}`,
    ),
    ...['INFO', 'CREATE', 'DURABLE.CREATE', 'MSG.NEXT'].map((call) => `${API}.CONSUMER.${call}.>`),
    '$JS.ACK.>',
  ],
  subscribe: ['_INBOX.>', 'progress', 'requests.changed', 'engines.hello'],
}

/** Reports, and leases jobs; makes and removes nothing, and reads only its own replies. */
const ENGINE = {
  publish: [
    'events',
    'progress',
    'engines.hello',
    `${API}.INFO`,
    `${API}.CONSUMER.INFO.JOBS.*`,
    `${API}.CONSUMER.MSG.NEXT.JOBS.*`,
    '$JS.ACK.JOBS.>',
  ],
  subscribe: ['_INBOX_ENGINE.>'],
}

const user = (
  name: string,
  password: string,
  { publish, subscribe }: Readonly<Record<'publish' | 'subscribe', readonly string[]>>,
): string[] => [
  `    { user: "${name}", password: "${password}", permissions: {`,
  '      publish: [',
  ...publish.map((subject) => `        "${subject}"`),
  '      ]',
  `      subscribe: [${subscribe.map((subject) => `"${subject}"`).join(', ')}]`,
  '    } }',
]

/** Lines of the settings of a nats-server. */
export const natsUsers = ({ gateway, engine }: NatsPasswords): string[] => [
  'authorization {',
  '  users: [',
  ...user('gateway', gateway, GATEWAY),
  ...user('engine', engine, ENGINE),
  '  ]',
  '}',
]

/** The passwords in such settings; null: they have none, as those of earlier versions. */
export function passwordsIn(settings: string): NatsPasswords | null {
  const [gateway, engine] = NATS_USERS.map(
    (user) => RegExp(`user: "${user}", password: "([^"]+)"`).exec(settings)?.[1],
  )
  return gateway !== undefined && engine !== undefined ? { gateway, engine } : null
}

/** The address of the broker at `host` for each role. */
export const natsUrls = (passwords: NatsPasswords, host: string): NatsPasswords => ({
  gateway: `nats://gateway:${passwords.gateway}@${host}`,
  engine: `nats://engine:${passwords.engine}@${host}`,
})
