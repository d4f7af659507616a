/** One request as a client of each service makes it: media there, both sounds back. */

import { createClient } from '../../clients/typescript/node.ts'
import type { Answer, Send } from '../load/drive.ts'
import { seededRandom } from '../../test/support/basics/random.ts'
import type { Winnow } from '../load/winnow-requests.ts'
import { noise } from '../../test/support/media/signals.ts'
import { wavBytes } from '../../test/support/media/wav.ts'

const PROMPT = 'rain'
/** The rate that the PyTorch network is for; Winnow's takes any. */
const SAMPLE_RATE = 32_000
/** Variants per length: chunks of the same sound in one batch would be encoded once. */
const VARIANTS = 16

type Media = (audioSeconds: number) => Buffer

/** Mono noise as WAV, made once. */
export function mediaOf(lengths: readonly number[]): Media {
  const random = seededRandom(1)
  const made = new Map(
    lengths.map((seconds) => [
      seconds,
      Array.from({ length: VARIANTS }, (_, i) =>
        wavBytes([noise(seconds, SAMPLE_RATE, i + 1)], SAMPLE_RATE),
      ),
    ]),
  )
  return (seconds) => made.get(seconds)![Math.floor(random() * VARIANTS)]!
}

/** One call that waits for the result, and downloads of both sounds. */
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

/** One POST, as LitServe has it. */
export function throughPeer(url: string, media: Media): Send {
  return answering(async (audioSeconds, signal) => {
    const body = JSON.stringify({ prompt: PROMPT, audio: media(audioSeconds).toString('base64') })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', body, headers, signal })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    return (await answer.arrayBuffer()).byteLength
  })
}

/** @param exchange resolves with the bytes of both sounds */
function answering(exchange: (audioSeconds: number, signal: AbortSignal) => Promise<number>): Send {
  return async (audioSeconds, signal): Promise<Answer> => {
    try {
      const bytes = await exchange(audioSeconds, signal)
      const least = 2 * 3 * SAMPLE_RATE * audioSeconds // of two sounds of 24 bits
      return { code: bytes >= least ? 'COMPLETED' : 'TOO_SHORT' }
    } catch (error) {
      return { code: error instanceof Error ? error.message.slice(0, 80) : 'FAILED' }
    }
  }
}
