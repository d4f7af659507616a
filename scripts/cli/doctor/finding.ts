/** The result of a check, and how bad it is. */

/** `unused` means not set up here, and not needed. */
export type Severity = 'fine' | 'unused' | 'warning' | 'failure'

export interface Finding {
  /** What was checked, in a word or two. */
  name: string
  severity: Severity
  /** The result, in a sentence. */
  found: string
  /** Advice; only with a warning or a failure. */
  remedy?: string
}

export const okFinding = (name: string, found: string): Finding => ({
  name,
  severity: 'fine',
  found,
})

export const unusedFinding = (name: string, found: string): Finding => ({
  name,
  severity: 'unused',
  found,
})

export const warning = (name: string, found: string, remedy: string): Finding => ({
  name,
  severity: 'warning',
  found,
  remedy,
})

export const failure = (name: string, found: string, remedy: string): Finding => ({
  name,
  severity: 'failure',
  found,
  remedy,
})

/** 0 if everything is fine, 1 if there are warnings, 2 if something fails. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ severity }) => severity === 'failure')) return 2
  return findings.some(({ severity }) => severity === 'warning') ? 1 : 0
}
