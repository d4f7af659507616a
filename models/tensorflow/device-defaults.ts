/**
 * Default environment variables for TensorFlow and NVIDIA's libraries, which read them when they
 * are loaded. Whatever an admin has set takes precedence. The reasons are in
 * docs/decisions/models.md.
 */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULTS = {
  /** Hides the library's own warnings. */
  TF_CPP_MIN_LOG_LEVEL: '2',
  /** Numbers GPUs as nvidia-smi and NVML do. */
  CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  /** Allocates memory on demand, instead of the whole card at once. */
  TF_FORCE_GPU_ALLOW_GROWTH: 'true',
  /** Otherwise cuDNN would try all its algorithms again for each length of sound. */
  TF_CUDNN_USE_AUTOTUNE: '0',
  /**
   * 4 GiB for kernels that are compiled at first use, because this build has no machine code for
   * the card.
   */
  CUDA_CACHE_MAXSIZE: '4294967296',
} as const

/** The CUDA compiler from set-up, in the GPU build only. */
const NVCC = fileURLToPath(new URL('../../.runtime/tensorflow/nvidia/cuda_nvcc', import.meta.url))

/** The kinds of operations that XLA launches as CUDA graphs. */
const COMMAND_BUFFERS = 'FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL'

/**
 * XLA's compiled GPU code goes to the cache folder of set-up. Code for CPUs is not cached,
 * since XLA warns that another CPU may be unable to run it.
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

/**
 * Returns XLA's own flags.
 * @param commandBuffers see COMMAND_BUFFERS; empty for none
 */
export function xlaFlags(commandBuffers: string, nvcc = NVCC): string {
  const found = existsSync(nvcc) ? [`--xla_gpu_cuda_data_dir="${nvcc}"`] : []
  return [...found, `--xla_gpu_enable_command_buffer=${commandBuffers}`].join(' ')
}

/**
 * @param nvcc folder of the CUDA compiler, which may not exist
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
 * Restricts an engine to its GPU, the first that it may use: the library allocates memory on every
 * GPU that it sees but computes on only one.
 * @returns variables to add to `env`
 */
export function oneGpu({ CUDA_VISIBLE_DEVICES: visible = '0' }: Environment) {
  return { CUDA_VISIBLE_DEVICES: visible.split(',')[0]!.trim() }
}
