/**
 * Fetches an address the way engines do, for tests that check the response rather than the media.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Download, PublicFetch } from '../../../shared/http/public-fetch.ts'

const BYTES_MAX = 1_000_000

export const probing =
  ({ download }: Pick<PublicFetch, 'download'>) =>
  async (url: string, { signal = new AbortController().signal } = {}): Promise<Download> => {
    const folder = await mkdtemp(join(tmpdir(), 'probe-'))
    try {
      return await download(url, { path: join(folder, 'media'), bytesMax: BYTES_MAX, signal })
    } finally {
      await rm(folder, { recursive: true })
    }
  }
