/** Finds out what of `sandbox.mjs` this machine's kernel enforces. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export interface SandboxSupport {
  /** The version of Landlock, by which files are restricted; 0: they are not. */
  landlock: number
  /** True if system calls are filtered: no sockets, no other processes. */
  calls: boolean
}

export const SANDBOX = fileURLToPath(new URL('./sandbox.mjs', import.meta.url))

/** Starts a process that shuts itself in, and reports. @throws Error when it cannot be started */
export async function sandboxSupport(): Promise<SandboxSupport> {
  const { stdout } = await promisify(execFile)(process.execPath, [SANDBOX], { env: {} })
  return JSON.parse(stdout) as SandboxSupport
}

/** One sentence on what is missing; null: nothing is. */
export function sandboxProblem({ landlock, calls }: SandboxSupport): string | null {
  const missing = [
    ...(landlock > 0 ? [] : ['whatever files its user may (the kernel has no Landlock)']),
    ...(calls ? [] : ['the network (the kernel filters no system calls)']),
  ]
  if (missing.length === 0) return null
  return `a media file that makes FFmpeg run its code reaches ${missing.join(' and ')}`
}
