/**
 * `npm start`: runs nats-server, an engine (one for each GPU if there are several) and the gateway
 * on this machine, restarts any that dies, and stops all of them in order. Each process is the same
 * as in a larger installation.
 */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig as loadEngineConfig } from '../../engine/config.ts'
import { loadConfig as loadGatewayConfig } from '../../gateway/config.ts'
import { createPass } from '../../gateway/accounts/admin-pass.ts'
import { readOrMake } from '../../gateway/secrets.ts'
import { takeLock } from '../../shared/process/file-lock.ts'
import { onDisk, StartError } from '../../shared/process/lifecycle.ts'
import { makeFolder } from '../../shared/process/make-folder.ts'
import { SettingsError } from '../../shared/process/settings.ts'
import { commandText } from './command-name.ts'
import { hasCudaBuild } from './machine.ts'
import { shellWord } from '../../shared/shell-word.ts'
import { engineCount, enginesFor, gpusOf } from './start/engines.ts'
import { pageAddress } from './page-address.ts'
import { startNatsServer, type NatsServer } from './start/nats-server.ts'
import { natsUrls, natsUsers, newPasswords, type NatsPasswords } from './start/nats-users.ts'
import { choosePorts } from './start/ports.ts'
import { startService, type Service } from './start/service.ts'

const ENGINE_STOP_MS = 10_000
const STOP_MS = 5_000
const BROKER_RESTART_MS = 1_000
/**
 * A single Ctrl-C may arrive twice: from the terminal, and from npm or `winnow`, which pass it on.
 */
const SAME_SIGNAL_MS = 500

const dataFolder = resolve(process.env.DATA_DIR || './data')
const logsFolder = join(dataFolder, 'logs')
const services: Service[] = []
let nats: NatsServer | null = null
/** The latest restart, in progress or completed. */
let natsRestart: Promise<void> | undefined
/** When stopping began. */
let stoppingSince: number | null = null

process.on('SIGINT', () => void stop())
process.on('SIGTERM', () => void stop())
process.on('SIGHUP', () => void stop())
// The reader of our output, such as tee, may end before us on the same Ctrl-C; stopping goes on.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)

try {
  await main()
} catch (error) {
  const isPlain = error instanceof SettingsError || error instanceof StartError
  console.error(isPlain ? error.message : error)
  await stop(1)
}

async function main(): Promise<void> {
  const gatewayConfig = checkSettings()
  await inDataFolder(holdDataFolder())
  console.log('Starting Winnow…')
  const { NATS_URL: url } = process.env
  const natsUrlOf = url ? { gateway: url, engine: url } : await inDataFolder(ownNats())
  const adminToken = process.env.ADMIN_TOKEN || (await inDataFolder(ownAdminToken()))
  const scratchFolder = resolve(process.env.SCRATCH_DIR ?? join(dataFolder, 'scratch'))
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DATA_DIR: dataFolder,
    NATS_URL: natsUrlOf.gateway,
    ADMIN_TOKEN: adminToken,
    SCRATCH_DIR: scratchFolder, // the gateway uses it too, so media need not be sent
  }
  const gpus = hasCudaBuild() ? await gpusOf(env) : []
  const { grpc, metrics, engineMetrics } = await choosePorts(gatewayConfig, engineCount(gpus))
  const ports = { GRPC_PORT: String(grpc), METRICS_PORT: String(metrics) }
  const gatewayEnv = { ...env, ...ports }
  const [gateway, ...engines] = await Promise.all([
    run({ name: 'gateway', program: 'gateway/main.ts', env: gatewayEnv, stopMs: STOP_MS }),
    ...enginesFor({
      gpus,
      env: { DRAIN_SECONDS: '5', ...env, NATS_URL: natsUrlOf.engine },
      scratchFolder,
      metricsPorts: engineMetrics,
    }).map((engine) => run({ ...engine, program: 'engine/main.ts', stopMs: ENGINE_STOP_MS })),
  ])
  const listening = gateway.ready.address ?? ''
  const address = gatewayConfig.publicUrl ?? listening
  const engineAddresses = engines.flatMap(({ ready }) => ready.metrics ?? [])
  const { playground, adminUrl = gateway.ready.admin ?? address } = gatewayConfig
  const pages = { listening, adminUrl, adminToken, playground }
  await greet(address, gateway.ready, engineAddresses, pages)
}

/** The token for the admin pages, created at the first start. */
function ownAdminToken(): Promise<string> {
  return readOrMake(join(dataFolder, 'admin-token'), () => randomBytes(32).toString('hex'))
}

/** @throws StartError if the data folder cannot be written, for example as another user */
function inDataFolder<T>(work: Promise<T>): Promise<T> {
  return onDisk(`DATA_DIR: ${dataFolder}`, work)
}

/** Reports every invalid setting of every process before any of them runs. */
function checkSettings() {
  const env = {
    ...process.env,
    NATS_URL: process.env.NATS_URL || 'nats://127.0.0.1',
    ADMIN_TOKEN: process.env.ADMIN_TOKEN || 'made-once-the-settings-are-right',
  }
  const problems = new Set<string>()
  const check = <T>(load: (env: NodeJS.ProcessEnv) => T): T | null => {
    try {
      return load(env)
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error
      for (const problem of error.problems) problems.add(problem)
      return null
    }
  }
  const gatewayConfig = check(loadGatewayConfig)
  check(loadEngineConfig)
  if (!gatewayConfig || problems.size > 0) throw new SettingsError([...problems])
  return gatewayConfig
}

/**
 * Two starts on the same data folder would fight over the broker's store, the logs and the
 * database.
 */
async function holdDataFolder(): Promise<void> {
  await makeFolder(logsFolder, 0o700)
  const holder = await takeLock(join(dataFolder, 'winnow.lock'))
  if (holder === null) return
  console.error(
    `Winnow is already running on ${dataFolder} (${holder}). Stop it there, or set DATA_DIR to ` +
      'another folder.',
  )
  process.exit(1)
}

/**
 * Starts our nats-server. One that dies is restarted on the same port, where the others look for
 * it. If that fails, for example because of a full disk or a connection on that port, it is retried
 * later.
 */
async function ownNats(): Promise<NatsPasswords> {
  const folder = join(dataFolder, 'nats')
  const passwords = newPasswords()
  const users = { token: null, settings: natsUsers(passwords) }
  nats = await startNatsServer({ folder, ...users })
  const { port, host } = new URL(nats.url)
  const restart = async (code: number | null) => {
    if (stoppingSince !== null) return
    console.error(`nats-server ended with ${code}; starting it again.`)
    while (stoppingSince === null) {
      try {
        nats = await startNatsServer({ folder, port: Number(port), ...users })
        return watch(nats)
      } catch (error) {
        console.error(`nats-server does not start; retrying: ${String(error)}`)
        await sleep(BROKER_RESTART_MS)
      }
    }
  }
  const watch = (server: NatsServer) => {
    server.process.once('exit', (code) => {
      natsRestart = restart(code)
    })
  }
  watch(nats)
  return natsUrls(passwords, host)
}

async function run(options: Omit<Parameters<typeof startService>[0], 'logsFolder'>) {
  const service = await inDataFolder(startService({ ...options, logsFolder }))
  services.push(service)
  return service
}

async function greet(
  address: string,
  { grpc, metrics, admin }: Service['ready'],
  engineMetrics: readonly string[],
  pageOptions: PageOptions,
): Promise<void> {
  const keyFile = join(dataFolder, 'api-key')
  const own = process.env.BOOTSTRAP_API_KEY
  const hasFile = existsSync(keyFile)
  const key = own ?? (hasFile ? (await readFile(keyFile, 'utf8')).trim() : '<your key>')
  // Output that is not a terminal is kept and read by others, such as the log of a container.
  const isShown = process.stdout.isTTY || !hasFile
  const shownKey = isShown ? key : `in ${keyFile}`
  const example = 'examples/drums-and-flute.wav' // in a package the example is elsewhere
  const separate = commandText('separate', existsSync(example) ? example : 'song.mp3')
  const shellKey = own ? '$BOOTSTRAP_API_KEY' : isShown ? key : `$(cat ${shellWord(keyFile)})`
  const pages = await pagesOf(address, key, pageOptions)
  console.log(
    [
      '',
      ...(pages === undefined
        ? []
        : [`  Try it in a page   ${pages.own}`, `  For admins         ${pages.admin}`, '']),
      `  Winnow listens on  ${address}`,
      `  Documents at       ${address}/docs/`,
      ...(grpc ? [`  gRPC on            ${grpc}`] : []),
      ...(metrics ? [`  Metrics at         ${metrics}/metrics`] : []),
      ...(admin ? [`  Admin API at       ${admin}`] : []),
      ...engineMetrics.map((engine) => `  Engine metrics at  ${engine}/metrics`),
      `  Data and logs in   ${dataFolder}`,
      `  API key            ${own ? 'the one in BOOTSTRAP_API_KEY' : shownKey}`,
      '',
      '  Try:',
      `    curl -H "Authorization: Bearer ${shellKey}" ${address}/v1/models`,
      `    ${dataFolderPrefix()}${separate} "drums"${own ? ' --key "$BOOTSTRAP_API_KEY"' : ''}`,
      '',
      '  Ctrl-C stops it.',
      '',
    ].join('\n'),
  )
}

interface PageOptions {
  listening: string
  adminUrl: string
  adminToken: string
  playground: 'on' | 'off'
}

/**
 * Returns the addresses of the pages with codes that sign in, or, if others may read the output,
 * commands that make such addresses. Undefined if there is no page.
 */
async function pagesOf(
  address: string,
  key: string,
  { listening, adminUrl, adminToken, playground }: PageOptions,
): Promise<{ own: string; admin: string } | undefined> {
  if (playground === 'off') return undefined
  if (!process.stdout.isTTY) {
    const open = `${dataFolderPrefix()}${commandText('open')}`
    const keyOption = process.env.BOOTSTRAP_API_KEY ? ' --key "$BOOTSTRAP_API_KEY"' : ''
    const tokenOption = process.env.ADMIN_TOKEN ? ' --token "$ADMIN_TOKEN"' : ''
    const admin = `${dataFolderPrefix()}${commandText('open', '--admin')}${tokenOption}`
    return { own: `${open}${keyOption}`, admin }
  }
  const pageUrl = (await pageAddress({ address, listening, key })) ?? address
  const { token: code } = createPass(adminToken, 'code', Date.now())
  return { own: pageUrl, admin: `${adminUrl}/#admin=${code}` }
}

/** Prefix of the commands that are printed, so that they find the service's address and key. */
function dataFolderPrefix(): string {
  return dataFolder === resolve('./data') ? '' : `DATA_DIR=${shellWord(dataFolder)} `
}

/**
 * Stops the engines first, so that they can release their jobs, then the gateway, and the broker
 * last.
 */
async function stop(code = 0): Promise<void> {
  if (stoppingSince !== null) {
    if (performance.now() - stoppingSince < SAME_SIGNAL_MS) return
    console.error('Stopping at once.')
    for (const service of services) service.kill()
    nats?.process.kill('SIGKILL')
    process.exit(1)
  }
  stoppingSince = performance.now()
  console.log('\nStopping…')
  const isGateway = ({ name }: Service) => name === 'gateway'
  const engines = services.filter((service) => !isGateway(service))
  await Promise.all(engines.map((engine) => engine.stop()))
  await services.find(isGateway)?.stop()
  await natsRestart // otherwise it would be left behind
  if (nats) {
    const ended = new Promise((done) => nats?.process.once('exit', done))
    if (nats.process.exitCode === null && nats.process.kill('SIGTERM')) await ended
  }
  process.exit(code)
}
