/** The settings of this host's processes, wherever they are, for the checks. */

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
  /** Undefined if the host has another role; null if its settings are invalid. */
  gateway: Config | null | undefined
  engine: EngineConfig | null | undefined
  /** Everything that is wrong with the settings. */
  problems: readonly string[]
  /** The broker's address, with its credentials; undefined if not set. */
  natsUrl: string | undefined
  /** An outside address whose reachability proves the connection to the internet. */
  egressUrl: string
}

export type Role = 'gateway' | 'engine' | 'all'

/** Where install-host puts them. */
const INSTALLED = '/etc/winnow'
const INSTALLED_DATA = '/var/lib/winnow'

export function readContext(
  processEnv: Environment,
  { role, egressUrl, installed = INSTALLED }: DoctorOptions,
): Context {
  const env = { ...installedSettings(installed), ...processEnv }
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
  const has = (part: 'gateway' | 'engine') => [part, 'all'].includes(role ?? roleOf(installed))
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

/** The role of a host with installed services. */
function roleOf(installed: string): Role {
  const [gateway, engine] = ['gateway', 'engine'].map((name) =>
    existsSync(join(installed, 'credentials', name)),
  )
  return gateway === engine ? 'all' : gateway ? 'gateway' : 'engine'
}

/** Settings and secrets of the services here; only root can read the secrets. */
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

/** The address of the broker that `npm start` runs on this data folder, while it is running. */
function ownBroker(folder: string): string | undefined {
  const ports = existsSync(folder) && readdirSync(folder).find((name) => name.endsWith('.ports'))
  if (!ports) return undefined
  const { nats } = JSON.parse(readFileSync(join(folder, ports), 'utf8')) as { nats: string[] }
  const passwords = passwordsIn(readFileSync(join(folder, 'nats.conf'), 'utf8'))
  return passwords ? natsUrls(passwords, new URL(nats[0] ?? '').host).gateway : undefined
}
