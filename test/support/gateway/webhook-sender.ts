/** Sends a gateway's webhooks when a test says so. */

import { WebhookSender } from '../../../gateway/webhooks/sender.ts'
import type { Gateway } from './start-gateway.ts'

type SenderOptions = ConstructorParameters<typeof WebhookSender>[0]

/** Returns a sender that sends all that is due at each call of `send`. */
export function webhookSender(
  { deps, store }: Pick<Gateway, 'deps' | 'store'>,
  more: Partial<SenderOptions> & Pick<SenderOptions, 'post'>,
) {
  const { clock, log, config } = deps
  const { encryptionKeys } = config
  const sender = new WebhookSender({
    ...{ store, clock, log, encryptionKeys, attemptsMax: 32, hostAttemptsMax: 8 },
    ...more,
  })
  return Object.assign(sender, {
    async send() {
      await sender.startDue()
      await sender.idle()
    },
  })
}
