/** Stores the finished outputs of a job. */

import { handOverName } from '../../../shared/hand-over.ts'
import type { Job } from '../../../shared/messages.ts'
import { inTraceSpan } from '../../../shared/telemetry/tracing.ts'
import { HandOver } from '../../media/write/hand-over.ts'
import type { StoreOutage } from '../../media/store-outage.ts'
import type { JobMedia } from '../job-media.ts'
import type { Store } from './outputs.ts'

interface OutputStoreDeps {
  media: Pick<JobMedia, 'uploadOutput'>
  store: Pick<StoreOutage, 'reportFailure' | 'reportSuccess'>
}

/** Hands files over on a shared disk, or sends each one to the job's address for it. */
export function createStore(
  { upload_urls: urls, shared_folder: sharedFolder, hand_over_url: handOverUrl }: Job,
  attemptId: string,
  signal: AbortSignal,
  { media, store }: OutputStoreDeps,
): Store {
  const gateway = handOverUrl && new HandOver({ url: handOverUrl, attemptId, signal })
  return async (part, path, contentType) => {
    const url = urls[part]
    if (url === undefined) throw new Error(`the job has no address for ${part}`)
    const onUnavailable = () => store.reportFailure(url)
    const name = handOverName(sharedFolder, path)
    const handOver = gateway && name ? () => gateway.give(part, name) : undefined
    const upload = { url, path, contentType, attemptId, signal, onUnavailable, handOver }
    const place = await inTraceSpan(`upload ${part}`, {}, () => media.uploadOutput(upload))
    store.reportSuccess()
    return place
  }
}
