/**
 * Times the open models, at their published sizes and with random weights, by size of the batch.
 */
import { PRECISIONS } from '../../../models/tensorflow/precision.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { RANDOM_SEPARATORS, type Separator } from '../random-separators.ts'
import { speedOf } from '../measure.ts'
import type { Run } from '../options.ts'

/** With 16 pieces of 8 s, RoFormer's attention alone would take 20 GiB. */
const BATCH_MAX = 8

export const openModelsPart: Run = async function* ({ models, batches }, hasTime) {
  for (const model of models) {
    const load = RANDOM_SEPARATORS[model]
    if (!load) throw new Error(`There is no open model ${model}.`)
    for (const precision of PRECISIONS) {
      if (!hasTime()) break
      const separator = load(precision)
      for (const batch of batches.filter((size) => size <= BATCH_MAX)) {
        if (!hasTime()) break
        const { best, cells } = speedOf(() => separate(separator, batch), hasTime)
        yield {
          model,
          precision,
          batch,
          seconds: separator.seconds,
          ...cells,
          'audio-seconds a second': (1_000 * batch * separator.seconds) / best,
        }
      }
    }
  }
}

const separate = ({ inputs, separate }: Separator, batch: number): void =>
  tf.tidy(() => {
    separate(...inputs(batch)).dataSync()
  })
