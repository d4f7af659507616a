/** Fetches the source of a job. */

import { join } from 'node:path'
import { handOverName } from '../../shared/hand-over.ts'
import type { Job } from '../../shared/messages.ts'
import { LIMITS } from '../../shared/separation-options.ts'
import { shortText } from '../../shared/short-text.ts'
import type { PublicFetch } from '../../shared/http/public-fetch.ts'
import type { EngineConfig } from '../config.ts'
import type { StoreOutage } from '../media/store-outage.ts'
import type { JobMedia } from './job-media.ts'

interface FetchDeps {
  media: JobMedia
  /** Fetches addresses given by clients; refuses private ones. */
  publicFetch: PublicFetch
  config: Pick<EngineConfig, 'fetchSecondsMax'>
  store: Pick<StoreOutage, 'reportFailure' | 'reportSuccess'>
}

export interface FetchedMedia {
  path: string
  /** The name given by the server of the `audio_url`. */
  source_name?: string
}

export async function fetchMedia(
  { source, shared_folder: sharedFolder }: Job,
  folder: string,
  signal: AbortSignal,
  { media, publicFetch, config, store }: FetchDeps,
): Promise<FetchedMedia> {
  const path = join(folder, 'source')
  const fetching = { url: source.url, path, bytesMax: LIMITS.fileBytesMax, signal }
  const { fetchSecondsMax: secondsMax } = config
  if (source.kind === 'file') {
    const folderName = handOverName(sharedFolder, folder)
    const onUnavailable = () => store.reportFailure(source.url)
    await media.fetchSource({ ...fetching, folderName, onUnavailable })
    store.reportSuccess()
    return { path }
  }
  const { fileName } = await media.fetchPublicSource(publicFetch, { ...fetching, secondsMax })
  return fileName === undefined ? { path } : { path, source_name: shortText(fileName) }
}
