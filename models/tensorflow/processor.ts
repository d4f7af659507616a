/** Reads the processor's abilities. */
import { readFileSync } from 'node:fs'

let flags: string | undefined

/** Returns whether one of its flags, as Linux lists them, matches; elsewhere none is known. */
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
