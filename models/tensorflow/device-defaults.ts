/**
 * Settings of TensorFlow and NVIDIA's libraries in the environment, which they read as they are
 * loaded. Whatever an operator sets has precedence. Why: docs/decisions/models.md.
 */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULTS = {
  /** Warnings of the native library are not shown. */
  TF_CPP_MIN_LOG_LEVEL: '2',
  /** Numbers of GPUs as nvidia-smi and NVML give them. */
  CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  /** Memory is taken as it is needed, not the whole card at once. */
  TF_FORCE_GPU_ALLOW_GROWTH: 'true',
  /** cuDNN would try all its ways again for each length of sound. */
  TF_CUDNN_USE_AUTOTUNE: '0',
  /** Kernels compiled at first use, of all that this build lacks machine code for: 4 GiB. */
  CUDA_CACHE_MAXSIZE: '4294967296',
} as const

/** Set-up's compiler of CUDA, in the build for GPUs only. */
const NVCC = fileURLToPath(new URL('../../.runtime/tensorflow/nvidia/cuda_nvcc', import.meta.url))

/** Kernels that XLA launches as one (CUDA graphs), by what computes them. */
const COMMAND_BUFFERS = 'FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL'

/**
 * What XLA compiles for GPUs is kept in the cache folder, as set-up has it. What it compiles for
 * processors is not: XLA warns that another processor may not run it.
 */
function xlaDefaults({ WINNOW_CACHE_DIR, XDG_CACHE_HOME }: Environment, nvcc: string) {
  const caches = XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(WINNOW_CACHE_DIR || join(caches, 'winnow'), 'xla')
  return {
    TF_XLA_FLAGS:
      `--tf_xla_persistent_cache_directory="${folder}" ` +
      '--tf_xla_persistent_cache_device_types=XLA_GPU_JIT',
    XLA_FLAGS: xlaFlags(COMMAND_BUFFERS, nvcc),
  }
}

/** XLA's own flags. @param commandBuffers see COMMAND_BUFFERS; empty: none */
export function xlaFlags(commandBuffers: string, nvcc = NVCC): string {
  const found = existsSync(nvcc) ? [`--xla_gpu_cuda_data_dir="${nvcc}"`] : []
  return [...found, `--xla_gpu_enable_command_buffer=${commandBuffers}`].join(' ')
}

/**
 * @param nvcc folder of CUDA's compiler, which may not be there
 * @returns variables to add to `env`
 */
export function deviceDefaults(env: Environment, nvcc = NVCC): Record<string, string> {
  const isExact = (env.PRECISION || 'float32') === 'float32'
  const defaults = {
    ...DEFAULTS,
    ...(isExact && { NVIDIA_TF32_OVERRIDE: '0' }),
    ...(env.XLA === 'on' && xlaDefaults(env, nvcc)),
  }
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => env[name] === undefined))
}

/**
 * The GPU of an engine: the first that it may use, since the native library takes memory on all
 * that it sees and computes on one.
 * @returns variables to add to `env`
 */
export function oneGpu({ CUDA_VISIBLE_DEVICES: visible = '0' }: Environment) {
  return { CUDA_VISIBLE_DEVICES: visible.split(',')[0]!.trim() }
}
