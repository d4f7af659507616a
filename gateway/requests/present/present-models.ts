/** Presents models and engines to clients. */

import { createHmac } from 'node:crypto'
import type { EngineDescription } from '../../../shared/engine-control.ts'
import { NAMES_MAX, type ModelList } from '../../api/model-schemas.ts'
import { SeparationData } from '../../api/result-schemas.ts'
import { AudioSeparateInput, MODEL_ID } from '../../api/schemas.ts'
import { loadedModels } from './loaded-models.ts'
import type { Settings } from '../../config.ts'

export function presentModels(
  engines: readonly EngineDescription[],
  { encryptionKeys: [key], mediaSecondsMax }: Settings<'encryptionKeys' | 'mediaSecondsMax'>,
): ModelList {
  // an engine's id may contain the name of its host
  const hidden = (id: string) =>
    `engine_${createHmac('sha256', key).update(`engine ${id}`).digest('hex').slice(0, 16)}`
  return {
    object: 'list',
    data: [
      {
        id: MODEL_ID,
        object: 'model',
        description: 'Separates a sound, described in plain language, from audio or video.',
        input: AudioSeparateInput,
        output: SeparationData,
        media_seconds_max: mediaSecondsMax,
        engines: engines.map(({ engine_id, version, device, model }) => ({
          engine_id: hidden(engine_id),
          version,
          device,
          model: {
            name: model.name,
            summary: model.summary,
            parameters: model.parameters,
            weights_sha256: model.weights_sha256,
            sample_rate: model.sample_rate,
            channels_max: model.channels_max,
            gives_candidates: model.gives_candidates,
            predicts_spans: model.predicts_spans,
            precision: model.precision,
          },
        })),
        separators: loadedModels(engines).map(({ engineIds, ...model }) => ({
          name: model.name,
          summary: model.summary,
          answers: model.answers,
          stems: [...model.stems],
          ...(model.names?.length && { names: model.names.slice(0, NAMES_MAX) }),
          ...(model.licence && { licence: model.licence }),
          engine_ids: engineIds.map(hidden),
        })),
      },
    ],
  }
}
