// Whether the NVIDIA driver of this machine supports the CUDA libraries of the engine. Plain
// JavaScript without packages: set-up runs before anything is installed.

import { existsSync, readFileSync } from 'node:fs'

const DRIVER_FILE = '/proc/driver/nvidia/version'

/** The oldest driver that CUDA 12's libraries of any minor version run on. */
const OLDEST_DRIVER = '525.60.13'
const NEEDED = `CUDA 12 needs ${OLDEST_DRIVER} or later`

/**
 * The driver's version in what its kernel module tells, such as `535.183.01`; '' where there is
 * none.
 * @param {string} text of /proc/driver/nvidia/version
 */
export function driverVersion(text) {
  return /^NVRM version:.*?\s(\d+(?:\.\d+)+)\s/m.exec(text)?.[1] ?? ''
}

/**
 * What keeps the CUDA build from the GPU, in words; '' where nothing does.
 * @param {string | null} text of /proc/driver/nvidia/version; null where there is no such file
 */
export function driverProblem(text) {
  if (text === null) return `no NVIDIA driver is loaded (there is no ${DRIVER_FILE})`
  const version = driverVersion(text)
  if (!version) return `${DRIVER_FILE} names no driver version; ${NEEDED}`
  if (isAtLeast(version, OLDEST_DRIVER)) return ''
  return `the NVIDIA driver is ${version}; ${NEEDED}`
}

/** @returns {string | null} */
export const driverText = () => (existsSync(DRIVER_FILE) ? readFileSync(DRIVER_FILE, 'utf8') : null)

function isAtLeast(version, least) {
  const numbers = version.split('.').map(Number)
  for (const [i, number] of least.split('.').map(Number).entries()) {
    const own = numbers[i] ?? 0
    if (own !== number) return own > number
  }
  return true
}
