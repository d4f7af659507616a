/** Wires the parts of a gateway, for its process, for tests and for simulated runs. */

import type { Broker } from '../shared/broker/broker.ts'
import { MINUTE_MS } from '../shared/durations.ts'
import { KeyChecks } from './accounts/key-checks.ts'
import { KeyUses } from './accounts/key-uses.ts'
import { RateLimiter } from './accounts/rate-limit.ts'
import type { Config, GatewayConfig } from './config.ts'
import { PendingUploads } from './files/pending-uploads.ts'
import { createSweeper } from './files/sweeper.ts'
import { Loop } from './loop.ts'
import { EngineRegistry, type EngineClient } from './operations/engine-registry.ts'
import { createAccountCloser } from './requests/follow/account-closer.ts'
import { createDeadLetterHandler } from './requests/follow/dead-letters.ts'
import { createEventHandler } from './requests/follow/event-follower.ts'
import { createJobPublisher } from './requests/submit/job-publisher.ts'
import { QueueEstimates } from './requests/present/queue-estimates.ts'
import { RequestFeed } from './requests/follow/request-feed.ts'
import { createRescuer } from './requests/follow/rescuer.ts'
import type { PublicPost } from './webhooks/public-post.ts'
import { WebhookSender } from './webhooks/sender.ts'
import { TESTS_PER_MINUTE, WebhookTester } from './webhooks/tester.ts'
import type { Clock } from '../shared/clock.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import type { MediaStore } from './media-store/media-store.ts'
import type { Metrics } from './operations/metrics.ts'
import type { UrlChecks } from './requests/submit/url-checks.ts'
import type { Store } from './store/database.ts'

/** The rescuer starts once the events from before the restart should have been handled. */
const RESCUE_AFTER_MS = MINUTE_MS
/** The first sweep waits until the start is over. */
const SWEEP_AFTER_MS = 10_000
const KEY_USES_LOST = 'the last uses of API keys could not be stored'

/** The parts of a gateway that simulated runs replace. */
export interface GatewayParts extends UrlChecks {
  store: Store
  mediaStore: MediaStore
  metrics: Metrics
  clock: Clock
  log: Logger
  broker: Pick<
    Broker,
    'publishJob' | 'removeJob' | 'hasJob' | 'publishChange' | 'isConnected' | 'problem'
  >
  connectEngine: (address: string) => EngineClient | Promise<EngineClient>
  post: PublicPost['post']
  config: GatewayConfig & Pick<Config, 'webhooksMax' | 'webhooksPerHostMax'>
}

export type BrokerStreams = Pick<
  Broker,
  | 'followEvents'
  | 'followDeadLetters'
  | 'followProgress'
  | 'followChanges'
  | 'followAnnouncements'
  | 'followLosses'
>

/** The dependencies of routes and loops, each of which declares those that it uses. */
export type GatewayDeps = ReturnType<typeof makeDeps> & {
  /** Called when a request has entered the outbox. */
  wakePublisher: () => void
  /** Called when a webhook may have become due. */
  wakeWebhooks: () => void
}

export function createGateway(parts: GatewayParts) {
  const { store, broker, clock, log, config } = parts
  const webhookSender = new WebhookSender({
    store,
    clock,
    log,
    post: parts.post,
    encryptionKeys: config.encryptionKeys,
    attemptsMax: config.webhooksMax,
    hostAttemptsMax: config.webhooksPerHostMax,
    onAttempt: (state) => parts.metrics.webhookTried(state),
  })
  const deps: GatewayDeps = {
    ...makeDeps(parts),
    wakePublisher: () => publisher.wake(),
    wakeWebhooks: () => webhookSender.wake(),
  }
  const { engineRegistry, keyUses } = deps
  const publisher = createJobPublisher({ ...deps, broker })
  const rescuer = createRescuer({ ...deps, broker })
  const sweeper = createSweeper(deps)
  const closer = createAccountCloser(deps)
  const writeKeyUses = () => keyUses.write()
  const keyUseWriter = new Loop({ name: 'key uses', everyMs: MINUTE_MS, turn: writeKeyUses, log })
  let following: ReturnType<typeof follow> = []
  return {
    deps,
    async start(followed: BrokerStreams): Promise<void> {
      publisher.start()
      webhookSender.start()
      rescuer.start(RESCUE_AFTER_MS)
      followed.followLosses(() => rescuer.streamsLost())
      sweeper.start(SWEEP_AFTER_MS)
      closer.start(SWEEP_AFTER_MS)
      keyUseWriter.start(MINUTE_MS)
      following = follow(followed, deps)
      await Promise.all(following.map(async (stop) => await stop))
    },
    /**
     * Ends the work in progress, in order.
     * @param closeServers closes the servers, whose calls need these parts
     */
    async stop(closeServers = async (): Promise<void> => undefined): Promise<void> {
      const webhooksEnded = webhookSender.stop()
      await closeServers()
      const loops = [publisher, rescuer, sweeper, closer, keyUseWriter]
      const unfollowed = following.map(async (stop) => (await stop)())
      await Promise.all([...loops.map((loop) => loop.stop()), ...unfollowed])
      await webhooksEnded
      await keyUses.write().catch((error: unknown) => log.warn({ err: error }, KEY_USES_LOST))
      engineRegistry.close()
    },
  }
}

function makeDeps({ connectEngine, post, ...parts }: GatewayParts) {
  const { store, mediaStore, broker, clock, log, config } = parts
  const { rateLimitPerMinute, streamsMaxPerAccount } = config
  const engineRegistry = new EngineRegistry({ connect: connectEngine, clock, log })
  const feed = new RequestFeed(streamsMaxPerAccount, (id) => broker.publishChange(id))
  const limiter = new RateLimiter({ perMinute: TESTS_PER_MINUTE, clock, store })
  return {
    ...parts,
    engineRegistry,
    feed,
    pendingUploads: new PendingUploads({ store, mediaStore, clock, log, config }),
    queueEstimates: new QueueEstimates({ store, feed, clock, engineRegistry }),
    rateLimiter: new RateLimiter({ perMinute: rateLimitPerMinute, clock, store }),
    keyChecks: new KeyChecks({ store, clock }),
    keyUses: new KeyUses({ store, clock }),
    webhookTester: new WebhookTester({ post, clock, limiter }),
  }
}

const follow = (followed: BrokerStreams, deps: GatewayDeps) => [
  followed.followEvents(createEventHandler(deps)),
  followed.followDeadLetters(createDeadLetterHandler(deps)),
  followed.followProgress((progress) => deps.feed.progressed(progress)),
  followed.followChanges((requestId) => deps.feed.rowChangedElsewhere(requestId)),
  followed.followAnnouncements((announcement) => deps.engineRegistry.announced(announcement)),
]
