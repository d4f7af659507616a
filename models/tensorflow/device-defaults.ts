/**
 * Settings of TensorFlow and NVIDIA's libraries in the environment, which they read as they are
 * loaded. Whatever an operator sets has precedence. Why: docs/decisions/models.md.
 */

import { homedir } from 'node:os'
import { join } from 'node:path'

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

/**
 * What XLA compiles for GPUs is kept in the cache folder, as set-up has it. What it compiles for
 * processors is not: XLA warns that another processor may not run it.
 */
function xlaFlags({ WINNOW_CACHE_DIR, XDG_CACHE_HOME }: Environment): string {
  const caches = XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(WINNOW_CACHE_DIR || join(caches, 'winnow'), 'xla')
  const flags = { directory: folder, device_types: 'XLA_GPU_JIT' }
  return Object.entries(flags)
    .map(([name, value]) => `--tf_xla_persistent_cache_${name}=${value}`)
    .join(' ')
}

/** @returns variables to add to `env` */
export function deviceDefaults(env: Environment): Record<string, string> {
  const isExact = (env.PRECISION || 'float32') === 'float32'
  const defaults = {
    ...DEFAULTS,
    ...(isExact && { NVIDIA_TF32_OVERRIDE: '0' }),
    ...(env.XLA === 'on' && { TF_XLA_FLAGS: xlaFlags(env) }),
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
