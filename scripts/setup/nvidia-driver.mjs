// Checks whether this machine's NVIDIA driver supports the engine's CUDA libraries. Plain
// JavaScript without packages, because set-up runs before anything is installed.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const DRIVER_FILE = '/proc/driver/nvidia/version'

/** The oldest driver that runs CUDA 12 libraries of any minor version. */
const OLDEST_DRIVER = '525.60.13'
const NEEDED = `CUDA 12 needs ${OLDEST_DRIVER} or later`

/** Ways to call nvidia-smi; under WSL it is next to the driver. */
const SMI_COMMANDS = ['nvidia-smi', '/usr/lib/wsl/lib/nvidia-smi']
const SMI_MS_MAX = 20_000

/**
 * Finds the driver's version, such as `535.183.01`, in the output of its kernel module or
 * nvidia-smi; '' if there is none.
 * @param {string} text of /proc/driver/nvidia/version, or the first line from nvidia-smi
 */
export function driverVersion(text) {
  return /^(?:NVRM version:.*?\s)?(\d+(?:\.\d+)+)(?:\s|$)/m.exec(text)?.[1] ?? ''
}

/**
 * Explains why the CUDA build cannot use the GPU; '' if it can.
 * @param {string | null} text from `driverText`
 */
export function driverProblem(text) {
  if (text === null) {
    return `no NVIDIA driver is loaded (there is no ${DRIVER_FILE}, and no nvidia-smi that answers)`
  }
  const version = driverVersion(text)
  if (!version) return `${DRIVER_FILE} names no driver version; ${NEEDED}`
  if (isAtLeast(version, OLDEST_DRIVER)) return ''
  return `the NVIDIA driver is ${version}; ${NEEDED}`
}

/**
 * Reads what the driver's kernel module reports. If its file is missing (in some containers, and
 * under WSL), the version from nvidia-smi; null without either.
 * @returns {string | null}
 */
export function driverText(file = DRIVER_FILE, commands = SMI_COMMANDS) {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  for (const command of commands) {
    const query = ['--query-gpu=driver_version', '--format=csv,noheader']
    const { status, stdout } = spawnSync(command, query, { encoding: 'utf8', timeout: SMI_MS_MAX })
    if (status === 0 && driverVersion(stdout)) return stdout
  }
  return null
}

function isAtLeast(version, least) {
  const numbers = version.split('.').map(Number)
  for (const [i, number] of least.split('.').map(Number).entries()) {
    const part = numbers[i] ?? 0
    if (part !== number) return part > number
  }
  return true
}
