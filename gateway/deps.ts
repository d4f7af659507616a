/** The dependencies of the gateway's parts; `main.ts` makes them once, tests make their own. */

import type { Broker } from '../shared/broker/broker.ts'
import type { Clock } from '../shared/clock.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import type { EgressUser } from './requests/submit/egress-pool.ts'
import type { EngineRegistry } from './operations/engine-registry.ts'
import type { KeyChecks } from './accounts/key-checks.ts'
import type { KeyUses } from './accounts/key-uses.ts'
import type { MediaStore } from './media-store/media-store.ts'
import type { Metrics } from './operations/metrics.ts'
import type { PendingUploads } from './files/pending-uploads.ts'
import type { QueueEstimates } from './requests/present/queue-estimates.ts'
import type { RateLimiter } from './accounts/rate-limit.ts'
import type { RequestFeed } from './requests/follow/request-feed.ts'
import type { Keys } from './secrets.ts'
import type { Store } from './store/database.ts'
import type { WebhookTester } from './webhooks/tester.ts'

export interface Deps {
  store: Store
  mediaStore: MediaStore
  pendingUploads: PendingUploads
  broker: Pick<Broker, 'removeJob' | 'isConnected' | 'problem'>
  engineRegistry: EngineRegistry
  feed: RequestFeed
  queueEstimates: QueueEstimates
  rateLimiter: RateLimiter
  keyChecks: KeyChecks
  keyUses: KeyUses
  metrics: Metrics
  clock: Clock
  log: Logger
  config: AppConfig
  /**
   * Looks at the text of an address and its name alone: an engine asks its server.
   * @throws ServiceError `INVALID_AUDIO_URL` when it is not public; `RATE_LIMITED` when the account
   * has too many checks under way; the signal's reason
   */
  checkAudioUrl: (url: string, user: EgressUser) => Promise<void>
  /**
   * @throws ServiceError `INVALID_WEBHOOK_URL` when nothing may be posted there; `RATE_LIMITED` and
   * the signal's reason, as above
   */
  checkWebhookUrl: (url: string, user: EgressUser) => Promise<void>
  webhookTester: Pick<WebhookTester, 'send'>
  /** Called when a request has entered the outbox. */
  wakePublisher: () => void
  /** Called when a webhook may have become due. */
  wakeWebhooks: () => void
}

export interface AppConfig {
  /** Encrypt the secrets of webhooks. */
  encryptionKeys: Keys
  /** Address of this gateway for clients; known once it listens. */
  publicUrl: () => string
  uploadMinutes: number
  fileHours: number
  outputDays: number
  recordDays: number
  /** Requests that may wait, of all accounts. */
  queueMax: number
  /** Requests that may wait, of one account; 0: no limit. */
  queueMaxPerAccount: number
  /** Connections over HTTP; beyond it new ones are closed at once. */
  connectionsMax: number
  /** Proxies, as networks, whose `X-Forwarded-For` is believed in the log. */
  trustedProxies: readonly string[]
  /** The path at which these proxies serve the media folder to themselves; absent: they do not. */
  mediaAccelPath?: string | undefined
  /** For a complete JSON body; and the longest pause within an upload. */
  bodySecondsMax: number
  /** Files that one account may hold at once, pending ones included. */
  filesMaxPerAccount: number
  /** For files, outputs, and what is set aside for outputs. */
  mediaBytesMaxPerAccount: number
  streamWindowSeconds: number
  /** Longer media is refused. */
  mediaSecondsMax: number
  /** The page at `/`, and its sessions. */
  playground: 'on' | 'off'
  /** The page, as set-up has made it. */
  playgroundFolder: string
  /** The site of the documents, as set-up has made it. */
  docsFolder: string
  /** Origins that browsers get media from, if not here. */
  mediaOrigins: readonly string[]
  /** Web pages of these origins may call the API. */
  corsOrigins: readonly string[]
  /** Protects the admin API; without it there is none. */
  adminToken?: string | undefined
}
