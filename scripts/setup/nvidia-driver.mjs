// Checks whether the NVIDIA driver of this machine supports the CUDA libraries of the engine. Plain
// JavaScript without packages: set-up runs before anything is installed.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const DRIVER_FILE = '/proc/driver/nvidia/version'

/** The oldest driver that CUDA 12's libraries of any minor version run on. */
const OLDEST_DRIVER = '525.60.13'
const NEEDED = `CUDA 12 needs ${OLDEST_DRIVER} or later`

/** Commands for nvidia-smi: under Windows' Linux it lies next to the driver. */
const SMI_COMMANDS = ['nvidia-smi', '/usr/lib/wsl/lib/nvidia-smi']
const SMI_MS_MAX = 20_000

/**
 * The driver's version in what its kernel module or nvidia-smi tells, such as `535.183.01`; ''
 * where there is none.
 * @param {string} text of /proc/driver/nvidia/version, or the first line of nvidia-smi's answer
 */
export function driverVersion(text) {
  return /^(?:NVRM version:.*?\s)?(\d+(?:\.\d+)+)(?:\s|$)/m.exec(text)?.[1] ?? ''
}

/**
 * Says in words why the CUDA build cannot use the GPU; '' if it can.
 * @param {string | null} text as `driverText` gives it
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
 * Text of the driver's kernel module; without its file (in some containers, and under Windows'
 * Linux) the version that nvidia-smi gives; null without both.
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
    const own = numbers[i] ?? 0
    if (own !== number) return own > number
  }
  return true
}
