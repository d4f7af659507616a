/** Finds out what the CPU can do. */
import { readFileSync } from 'node:fs'

let flags: string | undefined

/** Whether one of the CPU's flags, as Linux lists them, matches; false on other systems. */
export function hasInstructions(pattern: RegExp): boolean {
  flags ??= readFlags()
  return pattern.test(flags)
}

function readFlags(): string {
  try {
    return /^flags\s*:.*$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[0] ?? ''
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '' // not Linux
    throw error
  }
}
