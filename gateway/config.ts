/** Every setting of the gateway, with its unit, range and default. */

import { readBrokerAddress } from '../shared/broker/connection.ts'
import { DAY_SECONDS } from '../shared/durations.ts'
import { FILE_BYTES_MAX } from '../shared/file-limits.ts'
import { PRIORITIES } from '../shared/priority.ts'
import { readSettings, type SettingReader } from '../shared/process/settings.ts'
import { readTlsFiles } from '../shared/process/tls-files.ts'
import { readOidcSettings } from './accounts/oidc-settings.ts'
import type { Keys } from './secrets.ts'

export type Config = ReturnType<typeof loadConfig>

/** The settings that parts of a gateway use, and values that are known only once it runs. */
export type GatewayConfig = Pick<Config, PartSetting> &
  Partial<Pick<Config, 'adminToken' | 'oidc' | 'mediaAccelPath'>> & {
    /** Encrypt stored secrets, such as those of webhooks. */
    encryptionKeys: Keys
    /** Where clients reach the gateway. */
    publicUrl: () => string
    /** Where admins open the page. */
    adminUrl: () => string
    /** Whether the admin API has an address of its own. */
    hasAdminAddress: boolean
    /**
     * The folder of the page, as set-up has made it; the others hold the clients and the documents.
     */
    playgroundFolder: string
    clientsFolder: string
    docsFolder: string
    /** Origins that browsers get media from, if not from this service. */
    mediaOrigins: readonly string[]
  }

/** The settings that one part uses. */
export type Settings<Name extends keyof GatewayConfig> = Pick<GatewayConfig, Name>

type PartSetting =
  | 'bodySecondsMax'
  | 'connectionsMax'
  | 'corsOrigins'
  | 'falApi'
  | 'fileBytesMax'
  | 'fileHours'
  | 'filesMaxPerAccount'
  | 'jobsMaxPerAccount'
  | 'mediaBytesMaxPerAccount'
  | 'mediaSecondsMax'
  | 'monthSecondsMaxPerAccount'
  | 'outputDays'
  | 'playground'
  | 'priority'
  | 'queueMax'
  | 'queueMaxPerAccount'
  | 'rateLimitPerMinute'
  | 'recordDays'
  | 'streamsMaxPerAccount'
  | 'streamWindowSeconds'
  | 'trustedProxies'
  | 'uploadMinutes'

const MEGABYTE = 1_000_000
const WEB = ['http:', 'https:']
/** This host, and private networks. */
const NEAR = '127.0.0.0/8, ::1/128, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7'

type Env = Readonly<Record<string, string | undefined>>

export const loadConfig = (env: Env) => readSettings(env, gatewaySettings)

/** Reads only the settings of the database, because the admin's tools need no others. */
export const loadDatabaseConfig = (env: Env) => readSettings(env, databaseSettings)

/** Reads each setting once. docs/reference/settings.md lists what this asks of the reader. */
export const gatewaySettings = (reader: SettingReader) => ({
  ...databaseSettings(reader),
  ...otherSettings(reader),
})

const databaseSettings = ({ text, integer, parsed }: SettingReader) => ({
  dataFolder: text('DATA_DIR', './data'),
  databaseUrl: parsed('DATABASE_URL', '', readDatabaseUrl), // without one: SQLite
  databaseConnectionsMax: integer('DATABASE_CONNECTIONS_MAX', 1, 1_000, 16),
})

const otherSettings = (reader: SettingReader) => {
  const { text, optional, secret, integer, integerOrOff, choice, parsed, url, networks } = reader
  return {
    gateways: integer('GATEWAYS', 1, 64, 1), // processes on this host that share its ports
    host: text('HOST', '127.0.0.1'),
    port: integer('PORT', 0, 65_535, 8080), // 0: any free one
    grpcHost: text('GRPC_HOST', '127.0.0.1'),
    grpcPort: integerOrOff('GRPC_PORT', 0, 65_535), // 0: any free one; unset: the one after PORT
    metricsHost: text('METRICS_HOST', '127.0.0.1'),
    metricsPort: integerOrOff('METRICS_PORT', 0, 65_535), // unset: the 1000th after PORT
    tlsFiles: readTlsFiles(reader), // for gRPC, metrics, ADMIN_PORT and engines
    brokerAddress: readBrokerAddress(reader),
    signingKeyFile: optional('SIGNING_KEY_FILE'),
    encryptionKeyFile: optional('ENCRYPTION_KEY_FILE'),
    credentialsFolder: optional('CREDENTIALS_DIRECTORY'), // systemd's
    publicUrl: url('PUBLIC_URL', WEB), // where clients reach the gateway
    mediaUrl: url('MEDIA_URL', WEB), // where engines reach the media routes
    engineFolder: optional('SCRATCH_DIR'), // of engines on this host: media go by name
    s3Bucket: optional('S3_BUCKET'), // keeps the media; without one it stays in the data folder
    s3Region: text('S3_REGION', 'us-east-1'),
    s3Endpoint: url('S3_ENDPOINT', WEB), // of an S3-compatible store other than Amazon's
    s3PublicEndpoint: url('S3_PUBLIC_ENDPOINT', WEB), // where clients reach it, if elsewhere
    bootstrapApiKey: secret('BOOTSTRAP_API_KEY', 16),
    ...adminSettings(reader),
    falApi: choice('FAL_API', ['on', 'off'], 'off'), // at /fal, for fal's clients
    playground: choice('PLAYGROUND', ['on', 'off'], 'on'), // the page at /
    trustedProxies: networks('TRUSTED_PROXIES'), // whose X-Forwarded-For names the client
    mediaAccelPath: parsed('MEDIA_ACCEL_PATH', '', readAccelPath), // nginx's, for the media folder
    logLevel: choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info'),
    otlpEndpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', WEB), // receives trace spans
    egressAllowCidrs: networks('EGRESS_ALLOW_CIDRS'),
    engineNetworks: networks('ENGINE_NETWORKS', NEAR), // where engines may be called
    corsOrigins: parsed('CORS_ORIGINS', '', readOrigins), // of pages that may call the API
    webhooksMax: integer('WEBHOOKS_MAX', 1, 1_000, 32), // posted at once
    webhooksPerHostMax: integer('WEBHOOKS_PER_HOST_MAX', 1, 1_000, 8),
    leaseSeconds: integer('LEASE_SECONDS', 2, 600, 30), // as the engines have it
    connectionsMax: integer('CONNECTIONS_MAX', 1, 1_000_000, 20_000), // over HTTP
    bodySecondsMax: integer('BODY_SECONDS_MAX', 1, 600, 30), // for JSON; within uploads, silence
    diskFreeBytesMin: MEGABYTE * integer('DISK_FREE_MB_MIN', 0, 1_000_000_000, 1_024),
    filesMaxPerAccount: integer('FILES_MAX_PER_ACCOUNT', 1, 100_000_000, 100_000), // held at once
    mediaBytesMaxPerAccount: MEGABYTE * integer('FILE_MB_MAX_PER_ACCOUNT', 0, 1e9, 0), // 0: half
    uploadMinutes: integer('UPLOAD_MINUTES', 1, 1_440, 60),
    fileHours: integer('FILE_HOURS', 1, 8_760, 24),
    outputDays: integer('OUTPUT_DAYS', 1, 365, 7),
    recordDays: integer('RECORD_DAYS', 4, 3_650, 30), // webhooks are retried for over 3 days
    rateLimitPerMinute: integer('RATE_LIMIT_PER_MINUTE', 0, 1_000_000, 0), // 0: no limit
    queueMax: integer('QUEUE_MAX', 1, 1_000_000, 10_000), // requests that wait, of all accounts
    queueMaxPerAccount: integer('QUEUE_MAX_PER_ACCOUNT', 0, 1_000_000, 0), // 0: no limit
    jobsMaxPerAccount: integer('JOBS_MAX_PER_ACCOUNT', 0, 1_000_000, 0), // 0: no limit
    monthSecondsMaxPerAccount: integer('MONTH_SECONDS_MAX_PER_ACCOUNT', 0, 1e9, 0), // 0: no limit
    priority: choice('PRIORITY', PRIORITIES, 'interactive'), // the highest of accounts without one
    fileBytesMax: MEGABYTE * integer('FILE_MB_MAX', 0, 524, 0) || FILE_BYTES_MAX, // of one file
    mediaSecondsMax: integer('MEDIA_SECONDS_MAX', 1, 604_800, 7_200), // as the engines have it
    streamsMaxPerAccount: integer('STREAMS_MAX_PER_ACCOUNT', 1, 1_000_000, 1_000), // open here
    streamWindowSeconds: integer('STREAM_WINDOW_SECONDS', 1, DAY_SECONDS, 600),
  }
}

function adminSettings(reader: SettingReader) {
  const { text, secret, integerOrOff, url } = reader
  const adminPort = integerOrOff('ADMIN_PORT', 0, 65_535) ?? 'off' // off: /admin is at PORT
  if (adminPort !== 'off') text('ADMIN_TOKEN')
  return {
    adminPort,
    adminHost: text('ADMIN_HOST', '127.0.0.1'),
    adminToken: secret('ADMIN_TOKEN', 16), // opens the admin API; without it there is none
    oidc: readOidcSettings(reader), // admins sign in there by name
    adminUrl: url('ADMIN_URL', WEB), // where admins open the page, if elsewhere
  }
}

/** The error does not show the address, which may hold a password. */
function readDatabaseUrl(text: string): string | undefined {
  if (text === '') return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const hasForm = /^postgres(ql)?:$/.test(url?.protocol ?? '') && (url?.pathname ?? '').length > 1
  if (hasForm) return text
  throw new Error('must have the form postgres://user:password@host:port/database')
}

/**
 * Returns the `nth` port after `port`, or 0, which means any free one, if `port` is 0 or there is
 * no such port.
 */
export const portAfter = (port: number, nth: number): number =>
  port === 0 || port + nth > 65_535 ? 0 : port + nth

/**
 * Reads origins that are separated by commas or blanks.
 * @throws Error that says what would be right
 */
function readOrigins(text: string): string[] {
  const origins = text.split(/[\s,]+/).filter(Boolean)
  const isOrigin = (origin: string) =>
    /^https?:[^*]+$/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin
  if (origins.every(isOrigin)) return origins
  throw new Error('must list origins such as https://app.example.com, without a path')
}

/** @throws Error that says what would be right */
function readAccelPath(text: string): string | undefined {
  if (text === '') return undefined
  if (/^(\/[\w.-]+)+\/$/.test(text)) return text
  throw new Error('must be the path of an internal location, such as /winnow-media/')
}

/** Returns the origins that browsers get media from if a bucket holds it. */
export function mediaOrigins(settings: Partial<Config>): string[] {
  const { s3Bucket: bucket, s3Region: region, s3Endpoint, s3PublicEndpoint } = settings
  if (bucket === undefined) return []
  const endpoint = s3PublicEndpoint ?? s3Endpoint
  if (endpoint !== undefined) return [new URL(endpoint).origin]
  return [`https://${bucket}.s3.${region}.amazonaws.com`, `https://s3.${region}.amazonaws.com`]
}
