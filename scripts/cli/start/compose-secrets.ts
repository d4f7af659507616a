/**
 * Makes the secrets of an installation by compose.yaml: the passwords of the broker's users, the
 * gateway's keys and the token for admins. Each service finds its own on its volume, in the files
 * that it would read anywhere: compose-secrets.ts FOLDER, which has the volumes by service.
 * Repeating it changes nothing.
 */

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readOrMake } from '../../../gateway/secrets.ts'
import { makeFolder } from '../../../shared/process/make-folder.ts'
import { NATS_USERS, natsUrls, natsUsers, newPasswords, passwordsIn } from './nats-users.ts'

const [volumes = ''] = process.argv.slice(2)
const NATS_SETTINGS = join(volumes, 'broker/nats.conf')

const former = await readFile(NATS_SETTINGS, 'utf8').catch(() => '')
const passwords = passwordsIn(former) ?? newPasswords()
await write(NATS_SETTINGS, [
  'listen: "0.0.0.0:4222"',
  'http: "127.0.0.1:8222"', // for the check of its health
  'jetstream { store_dir: "/var/lib/winnow/store" }',
  ...natsUsers(passwords),
])
const urls = natsUrls(passwords, 'broker:4222')
for (const user of NATS_USERS) await write(credential(user, 'NATS_URL'), [urls[user]])
const inGateway = (file: string, encoding: 'base64' | 'hex') =>
  readOrMake(join(volumes, 'gateway', file), () => randomBytes(32).toString(encoding))
await inGateway('signing-key', 'base64')
await inGateway('encryption-key', 'base64')
await write(credential('gateway', 'ADMIN_TOKEN'), [await inGateway('admin-token', 'hex')])

/** Returns the file of a setting for a service whose CREDENTIALS_DIRECTORY is on its volume. */
function credential(service: string, setting: string): string {
  return join(volumes, service, 'credentials', `winnow_${setting}`)
}

async function write(path: string, lines: readonly string[]): Promise<void> {
  await makeFolder(dirname(path), 0o700)
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
}
