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
import { readTlsFiles } from '../shared/process/tls-files.ts'
import { parseBatchFrames } from './compute/batch-budget.ts'
import { parseJobsMax } from './jobs-max.ts'

const RUNTIME_FOLDER = fileURLToPath(new URL('../.runtime', import.meta.url))

/** MODELS, or MODEL if one is enough, names the models to hold; by default all available ones. */
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
  /** Models to load at the start, the preferred one first. */
  models: ModelChoice[]
  /** Models named by the settings, which are preferred to those loaded later. */
  namedModels: ModelChoice[]
}

const ALL_MODELS = 'all'

/** @throws Error saying what would be valid */
function readEngineId(text: string): string {
  if (RegExp(ENGINE_ID_PATTERN).test(text)) return text
  throw new Error('must have 1 to 128 letters, digits and ._:@-')
}

/** Next to the gateway's data, where `winnow model` installs them. */
const defaultModelsFolder = ({ DATA_DIR }: NodeJS.ProcessEnv): string =>
  join(DATA_DIR || 'data', 'models')

export type EngineConfig = ReturnType<typeof loadConfig>

/** @throws SettingsError naming every invalid setting */
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
    tlsFiles: readTlsFiles(reader), // for control plane and metrics
    engineId: parsed('ENGINE_ID', `${hostname()}-${newId('engine').slice(0, 15)}`, readEngineId),
    modelFolders,
    ...modelsOf(parsed, env, modelFolders),
    /**
     * Precision of the matrix products in mini and in SAM-Audio's transformer; `auto` is bfloat16
     * if the device computes that fast. It is not the default, because in bfloat16 the other lanes
     * of a batch change the result of a lane by as much as rounding does.
     */
    precision: choice('PRECISION', PRECISION_CHOICES, 'float32'),
    /** Whether XLA compiles the models' graphs; read by models/graph/xla.ts. */
    xla: choice('XLA', XLA_CHOICES, 'auto'),
    textEncoderFolder: resolve(text('TEXT_ENCODER_DIR', join(RUNTIME_FOLDER, 'text-encoder'))),
    /** Host of the gRPC control plane; port 0 takes any free port. */
    controlHost: text('CONTROL_HOST', '127.0.0.1'),
    controlPort: integer('CONTROL_PORT', 0, 65_535, 0),
    /** How gateways reach it, if that is not controlHost:controlPort. */
    controlAddress: optional('CONTROL_ADDRESS'),
    metricsHost: text('METRICS_HOST', '127.0.0.1'),
    metricsPort: integerOrOff('METRICS_PORT', 0, 65_535) ?? 0, // 0 takes any free port
    /** The machine's GPUs that CUDA gives to this process. */
    visibleGpus: env.CUDA_VISIBLE_DEVICES, // empty is not unset: it means no GPUs
    /** How many jobs may be in flight. */
    jobsMax: parsed('JOBS_MAX', 'auto', (text) => parseJobsMax(text)),
    /** How many chunks of one job may be decoded or in the model. */
    chunksInFlightMax: integer('CHUNKS_IN_FLIGHT_MAX', 1, 64, 2),
    /** Frames in a batch, including padding; `auto` goes by the memory of a GPU. */
    batchFramesMax: parsed('BATCH_FRAMES_MAX', 'auto', parseBatchFrames),
    leaseSeconds: integer('LEASE_SECONDS', 2, 600, 30),
    drainSeconds: integer('DRAIN_SECONDS', 0, HOUR_SECONDS, 30),
    /** How long one call of a model may take before its process is killed. */
    computeSecondsMax: integer('COMPUTE_SECONDS_MAX', 1, DAY_SECONDS, 1_800),
    /** How much separating an interruption may cost; `off` keeps nothing for a later attempt. */
    checkpointSeconds: integerOrOff('CHECKPOINT_SECONDS', 1, HOUR_SECONDS) ?? 30,
    jobSecondsMax: integer('JOB_SECONDS_MAX', 1, 604_800, 21_600),
    mediaSecondsMax: integer('MEDIA_SECONDS_MAX', 1, 604_800, 7_200),
    /** How long the media at an audio_url may take to arrive. */
    fetchSecondsMax: integer('FETCH_SECONDS_MAX', 1, DAY_SECONDS, 1_800),
    scratchFolder: resolve(text('SCRATCH_DIR', join(tmpdir(), 'winnow'))),
    /** With less free disk space no job is leased. */
    scratchFreeBytesMin: 1e6 * integer('DISK_FREE_MB_MIN', 0, 1_000_000_000, 1_024),
    egressAllowCidrs: networks('EGRESS_ALLOW_CIDRS'),
    /** Receives trace spans; without it there are none. */
    otlpEndpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']),
    logLevel: choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info'),
  }
}
