/** Checks the connection to the internet, which media at an audio_url and webhooks need. */

import type { Context } from '../context.ts'
import { okFinding, warning, type Finding } from '../finding.ts'

const MS_MAX = 10_000

export async function checkEgress({ egressUrl: url }: Context): Promise<Finding[]> {
  const startedAt = performance.now()
  try {
    const signal = AbortSignal.timeout(MS_MAX)
    const { status } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal })
    const ms = Math.round(performance.now() - startedAt)
    return [okFinding('egress', `${url} answers ${status} in ${ms} ms`)]
  } catch (error) {
    const { cause, message } = error as Error
    const reason =
      cause instanceof Error ? cause.message || (cause as { code?: string }).code : message
    const remedy =
      'audio_url and webhookUrl need DNS and a way out: check /etc/resolv.conf and the firewall. ' +
      'Winnow uses no proxy.'
    return [warning('egress', `${url} is not reached: ${reason}`, remedy)]
  }
}
