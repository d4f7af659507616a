/** Every setting of an engine process, with its unit, range and default. */

import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  availableChoices,
  parseModelChoices,
  SONGS_MODEL,
  type ModelChoice,
  type ModelFolders,
} from '../models/model-choice.ts'
import { XLA_CHOICES } from '../models/graph/xla.ts'
import { PRECISION_CHOICES } from '../models/tensorflow/precision.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../shared/durations.ts'
import { newId } from '../shared/ids.ts'
import { ENGINE_ID_PATTERN } from '../shared/messages.ts'
import { readBrokerAddress } from '../shared/broker/connection.ts'
import { readSettings, type SettingReader } from '../shared/process/settings.ts'
import { parseBatchFrames } from './compute/batch-budget.ts'
import { parseJobsMax } from './jobs-max.ts'

const RUNTIME_FOLDER = fileURLToPath(new URL('../.runtime', import.meta.url))

/** MODELS, or MODEL where one is enough, names what the engine holds: all that there is. */
function modelsOf(
  parsed: SettingReader['parsed'],
  { MODELS = '' }: NodeJS.ProcessEnv,
  folders: ModelFolders,
): ChosenModels {
  return parsed(MODELS.trim() ? 'MODELS' : 'MODEL', ALL_MODELS, (names) => {
    if (names === ALL_MODELS) return { models: availableChoices(folders), namedModels: [] }
    const models = parseModelChoices(names, folders)
    return { models, namedModels: models }
  })
}

interface ChosenModels {
  /** Loaded at the start, the preferred first. */
  models: ModelChoice[]
  /** Models that the settings name: preferred to what is loaded later. */
  namedModels: ModelChoice[]
}

const ALL_MODELS = 'all'

/** @throws Error that says what would be right */
function readEngineId(text: string): string {
  if (RegExp(ENGINE_ID_PATTERN).test(text)) return text
  throw new Error('must have 1 to 128 letters, digits and ._:@-')
}

/** Next to the gateway's data, where `winnow model` installs them. */
const defaultModelsFolder = ({ DATA_DIR }: NodeJS.ProcessEnv): string =>
  join(DATA_DIR || 'data', 'models')

export type EngineConfig = ReturnType<typeof loadConfig>

/** @throws SettingsError naming every wrong setting */
export const loadConfig = (env: NodeJS.ProcessEnv) =>
  readSettings(env, (reader) => engineSettings(reader, env))

/** Reads each setting once; docs/reference/settings.md lists what it asks of the reader. */
export function engineSettings(reader: SettingReader, env: NodeJS.ProcessEnv) {
  const { text, integer, integerOrOff, choice, parsed, optional, networks, url } = reader
  const modelFolders: ModelFolders = {
    installed: resolve(text('MODELS_DIR', defaultModelsFolder(env))),
    songs: resolve(text('SONGS_MODEL_DIR', join(RUNTIME_FOLDER, SONGS_MODEL))),
  }
  return {
    brokerAddress: readBrokerAddress({ text, optional, integer }),
    engineId: parsed('ENGINE_ID', `${hostname()}-${newId('engine').slice(0, 15)}`, readEngineId),
    modelFolders,
    ...modelsOf(parsed, env, modelFolders),
    /**
     * Precision of the products in mini and SAM-Audio's transformer; auto: bfloat16 where the
     * device computes it fast. In bfloat16 the other lanes of a batch change a lane's result by as
     * much as the rounding does, so it is not the default.
     */
    precision: choice('PRECISION', PRECISION_CHOICES, 'float32'),
    /** Whether XLA compiles the models' graphs: models/graph/xla.ts reads it. */
    xla: choice('XLA', XLA_CHOICES, 'auto'),
    textEncoderFolder: resolve(text('TEXT_ENCODER_DIR', join(RUNTIME_FOLDER, 'text-encoder'))),
    /** Host of the gRPC control plane; port 0 takes any free one. */
    controlHost: text('CONTROL_HOST', '127.0.0.1'),
    controlPort: integer('CONTROL_PORT', 0, 65_535, 0),
    /** How gateways reach it, when that is not controlHost:controlPort. */
    controlAddress: optional('CONTROL_ADDRESS'),
    metricsHost: text('METRICS_HOST', '127.0.0.1'),
    metricsPort: integerOrOff('METRICS_PORT', 0, 65_535) ?? 0, // 0: any free one
    /** GPUs of this machine that CUDA gives to this process. */
    visibleGpus: env.CUDA_VISIBLE_DEVICES, // empty is not unset: there are none
    /** Jobs in flight at once. */
    jobsMax: parsed('JOBS_MAX', 'auto', (text) => parseJobsMax(text)),
    /** Chunks of one job decoded or in the model at once. */
    chunksInFlightMax: integer('CHUNKS_IN_FLIGHT_MAX', 1, 64, 2),
    /** Frames of one batch, padding included; auto: by the memory of a GPU. */
    batchFramesMax: parsed('BATCH_FRAMES_MAX', 'auto', parseBatchFrames),
    leaseSeconds: integer('LEASE_SECONDS', 2, 600, 30),
    drainSeconds: integer('DRAIN_SECONDS', 0, HOUR_SECONDS, 30),
    /** The longest that one call of a model may take; then its process ends. */
    computeSecondsMax: integer('COMPUTE_SECONDS_MAX', 1, DAY_SECONDS, 1_800),
    /** Of separating that an interruption may cost; off: nothing is kept for a later attempt. */
    checkpointSeconds: integerOrOff('CHECKPOINT_SECONDS', 1, HOUR_SECONDS) ?? 30,
    jobSecondsMax: integer('JOB_SECONDS_MAX', 1, 604_800, 21_600),
    mediaSecondsMax: integer('MEDIA_SECONDS_MAX', 1, 604_800, 7_200),
    /** For the media at an audio_url to arrive. */
    fetchSecondsMax: integer('FETCH_SECONDS_MAX', 1, DAY_SECONDS, 1_800),
    scratchFolder: resolve(text('SCRATCH_DIR', join(tmpdir(), 'winnow'))),
    /** With less free on its disk no job is leased. */
    scratchFreeBytesMin: 1e6 * integer('DISK_FREE_MB_MIN', 0, 1_000_000_000, 1_024),
    egressAllowCidrs: networks('EGRESS_ALLOW_CIDRS'),
    /** Takes spans; without it there are none. */
    otlpEndpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']),
    logLevel: choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info'),
  }
}
