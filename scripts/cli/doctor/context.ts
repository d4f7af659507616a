/** Context of the checks: the settings of this host's processes, wherever they stand. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { loadConfig as loadEngineConfig, type EngineConfig } from '../../../engine/config.ts'
import { loadConfig as loadGatewayConfig, type Config } from '../../../gateway/config.ts'
import { settingsIn } from '../../../shared/process/credentials.ts'
import { SettingsError } from '../../../shared/process/settings.ts'
import { natsUrls, passwordsIn } from '../start/nats-users.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Context {
  env: Environment
  /** Undefined where the host has another role; null where its settings are wrong. */
  gateway: Config | null | undefined
  engine: EngineConfig | null | undefined
  /** Every wrong setting. */
  problems: readonly string[]
  /** The broker's, with its credentials; undefined if none is set. */
  natsUrl: string | undefined
  /** An address outside, to reach which shows that there is a way out. */
  egressUrl: string
}

export type Role = 'gateway' | 'engine' | 'all'

/** As install-host lays them. */
const INSTALLED = '/etc/winnow'
const INSTALLED_DATA = '/var/lib/winnow'

export function readContext(
  given: Environment,
  { role, egressUrl, installed = INSTALLED }: DoctorOptions,
): Context {
  const env = { ...installedSettings(installed), ...given }
  const natsUrl = env.NATS_URL || ownBroker(resolve(env.DATA_DIR || './data', 'nats'))
  const complete = { ...env, NATS_URL: natsUrl ?? 'nats://127.0.0.1' }
  const problems = new Set<string>()
  const load = <T>(read: (env: NodeJS.ProcessEnv) => T): T | null => {
    try {
      return read(complete)
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error
      for (const problem of error.problems) problems.add(problem)
      return null
    }
  }
  const has = (one: 'gateway' | 'engine') => [one, 'all'].includes(role ?? roleOf(installed))
  return {
    env,
    gateway: has('gateway') ? load(loadGatewayConfig) : undefined,
    engine: has('engine') ? load(loadEngineConfig) : undefined,
    problems: [...problems],
    natsUrl,
    egressUrl,
  }
}

interface DoctorOptions {
  role: Role | undefined
  egressUrl: string
  installed?: string
}

/** The role of a host where Winnow is installed, by its services. */
function roleOf(installed: string): Role {
  const [gateway, engine] = ['gateway', 'engine'].map((name) =>
    existsSync(join(installed, 'credentials', name)),
  )
  return gateway === engine ? 'all' : gateway ? 'gateway' : 'engine'
}

/** Settings and secrets of the services here; only root can read the latter. */
function installedSettings(folder: string): Environment {
  const file = join(folder, 'winnow.env')
  if (!existsSync(file)) return {}
  const secrets = ['engine', 'gateway'].flatMap((service) => {
    const path = join(folder, 'credentials', service)
    return existsSync(path) ? [settingsIn(path)] : []
  })
  const settings = parseEnv(readFileSync(file, 'utf8'))
  return Object.assign({ DATA_DIR: INSTALLED_DATA, ...settings }, ...secrets)
}

/** The address of the broker that `npm start` runs on this data folder, while it runs. */
function ownBroker(folder: string): string | undefined {
  const ports = existsSync(folder) && readdirSync(folder).find((name) => name.endsWith('.ports'))
  if (!ports) return undefined
  const { nats } = JSON.parse(readFileSync(join(folder, ports), 'utf8')) as { nats: string[] }
  const passwords = passwordsIn(readFileSync(join(folder, 'nats.conf'), 'utf8'))
  return passwords ? natsUrls(passwords, new URL(nats[0] ?? '').host).gateway : undefined
}
