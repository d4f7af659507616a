/** Cuts the parts of a live preview from a preview while it grows; see `shared/live-preview.ts`. */

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { endOfPart, LIVE_PART_BYTES_MAX, LIVE_PARTS_MAX } from '../../../shared/live-preview.ts'
import { OPUS_RATE } from '../../media/write/ogg-opus.ts'
import { PREVIEW_SEGMENT_SAMPLES } from '../../media/write/preview-lane.ts'
import type { Peaks } from './peaks.ts'
import type { PreviewIndex } from './preview-index.ts'

/** Buckets in one sound, times its channels: each part repeats those of everything before it. */
export const LIVE_PEAKS_MAX = 1_024

/** The rest of a part is for its JSON: peaks as text such as `-128,`, and sizes of segments. */
const SEGMENTS_BYTES_MAX = LIVE_PART_BYTES_MAX - 2 ** 20

/** A part that is complete, in a file of its own. */
export interface LivePart {
  path: string
  /** Seconds of the preview up to its end. */
  seconds: number
}

/** The preview so far. */
interface PreviewState {
  path: string
  /** Size of each segment, in the order of the file. */
  bytes: readonly number[]
  /** How many sounds it has. */
  lanes: number
  peaks: Peaks
  levels: () => PreviewIndex['levels']
}

export class LiveParts {
  #parts = 0
  /** Segments of each sound in the parts so far, and their bytes in the file. */
  #segments = 0
  #bytes = 0
  #isOver = false

  /** Writes the parts that have become complete. */
  async cut({ path, bytes, lanes, peaks, levels }: PreviewState): Promise<LivePart[]> {
    const parts: LivePart[] = []
    for (;;) {
      const end = endOfPart(this.#segments)
      if (this.#isOver || end * lanes > bytes.length) return parts
      const partBytes = bytes.slice(this.#segments * lanes, end * lanes)
      const index: PreviewIndex = {
        sample_rate: OPUS_RATE,
        samples: (end - this.#segments) * PREVIEW_SEGMENT_SAMPLES,
        segment_samples: PREVIEW_SEGMENT_SAMPLES,
        bytes: partBytes,
        levels: levels(),
      }
      const size = partBytes.reduce((sum, length) => sum + length, 0)
      this.#isOver = this.#parts === LIVE_PARTS_MAX || size > SEGMENTS_BYTES_MAX
      if (this.#isOver) return parts
      const partPath = `${path}_live_${this.#parts}`
      const segments = createReadStream(path, { start: this.#bytes, end: this.#bytes + size - 1 })
      await writePart(partPath, peaks.toJson(1, index), segments)
      this.#parts += 1
      this.#segments = end
      this.#bytes += size
      parts.push({ path: partPath, seconds: (end * PREVIEW_SEGMENT_SAMPLES) / OPUS_RATE })
    }
  }
}

async function writePart(path: string, text: string, segments: AsyncIterable<Buffer>) {
  const json = Buffer.from(text)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(json.length)
  const file = await open(path, 'w')
  try {
    await file.writev([length, json])
    for await (const bytes of segments) await file.write(bytes)
  } finally {
    await file.close()
  }
}
