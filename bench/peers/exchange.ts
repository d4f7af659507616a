/**
 * Makes one request the way a client of each service does: uploads the media, and downloads both
 * sounds.
 */

import { createClient } from '../../clients/typescript/node.ts'
import type { Answer, Send } from '../load/drive.ts'
import { seededRandom } from '../../test/support/basics/random.ts'
import type { Winnow } from '../load/winnow-requests.ts'
import { noise } from '../../test/support/media/signals.ts'
import { wavBytes } from '../../test/support/media/wav.ts'

const PROMPT = 'rain'
/** The sample rate of the PyTorch network; Winnow takes any. */
const SAMPLE_RATE = 32_000
/** Variants per length, because a batch would encode equal chunks only once. */
const VARIANTS = 16

type Media = (audioSeconds: number) => Buffer

/** Makes WAV files of mono noise, and returns a function that picks one of a length. */
export function mediaOf(lengths: readonly number[]): Media {
  const random = seededRandom(1)
  const files = new Map(
    lengths.map((seconds) => [
      seconds,
      Array.from({ length: VARIANTS }, (_, i) =>
        wavBytes([noise(seconds, SAMPLE_RATE, i + 1)], SAMPLE_RATE),
      ),
    ]),
  )
  return (seconds) => files.get(seconds)![Math.floor(random() * VARIANTS)]!
}

/** One call that waits for the result, then downloads of both sounds. */
export function throughWinnow({ url, apiKey }: Winnow, media: Media): Send {
  return answering(async (audioSeconds, signal) => {
    const client = createClient({ baseUrl: url, apiKey, signal })
    const bytes = new Blob([Uint8Array.from(media(audioSeconds))])
    const mixture = { name: 'mix.wav', contentType: 'audio/wav', bytes }
    const { data } = await client.separate(mixture, PROMPT)
    const sounds = await Promise.all(
      [data.target.url, data.residual.url].map(async (output) =>
        (await client.open(output)).arrayBuffer(),
      ),
    )
    return sounds.reduce((sum, { byteLength }) => sum + byteLength, 0)
  })
}

/** One POST, which LitServe answers with both sounds. */
export function throughPeer(url: string, media: Media): Send {
  return answering(async (audioSeconds, signal) => {
    const body = JSON.stringify({ prompt: PROMPT, audio: media(audioSeconds).toString('base64') })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', body, headers, signal })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    return (await answer.arrayBuffer()).byteLength
  })
}

/** @param exchange resolves with the total size of both sounds in bytes */
function answering(exchange: (audioSeconds: number, signal: AbortSignal) => Promise<number>): Send {
  return async (audioSeconds, signal): Promise<Answer> => {
    try {
      const bytes = await exchange(audioSeconds, signal)
      const least = 2 * 3 * SAMPLE_RATE * audioSeconds // two sounds of 24 bits
      return { code: bytes >= least ? 'COMPLETED' : 'TOO_SHORT' }
    } catch (error) {
      return { code: error instanceof Error ? error.message.slice(0, 80) : 'FAILED' }
    }
  }
}
