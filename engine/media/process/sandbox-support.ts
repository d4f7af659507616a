/** Finds out how much of `sandbox.mjs` the kernel of this machine enforces. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export interface SandboxSupport {
  /** The version of Landlock, which restricts file access; 0 if it is missing. */
  landlock: number
  /** Whether system calls are filtered, so that there are no sockets or other processes. */
  calls: boolean
}

export const SANDBOX = fileURLToPath(new URL('./sandbox.mjs', import.meta.url))

/**
 * Starts a process that sandboxes itself and reports.
 * @throws Error if it cannot be started
 */
export async function sandboxSupport(): Promise<SandboxSupport> {
  const { stdout } = await promisify(execFile)(process.execPath, [SANDBOX], { env: {} })
  return JSON.parse(stdout) as SandboxSupport
}

/** Returns a sentence about what is missing; null if nothing is. */
export function sandboxProblem({ landlock, calls }: SandboxSupport): string | null {
  const missing = [
    ...(landlock > 0 ? [] : ['whatever files its user may (the kernel has no Landlock)']),
    ...(calls ? [] : ['the network (the kernel filters no system calls)']),
  ]
  if (missing.length === 0) return null
  return `a media file that makes FFmpeg run its code reaches ${missing.join(' and ')}`
}
