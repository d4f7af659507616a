/**
 * Reads the settings of a process from its environment, all at once, so that all mistakes are
 * reported together.
 */

import ipaddr from 'ipaddr.js'

type Environment = Readonly<Record<string, string | undefined>>

export interface SettingReader {
  /** A text; must be set unless it has a default. */
  text(name: string, fallback?: string): string
  optional(name: string): string | undefined
  /** An optional secret of at least `least` visible ASCII characters. Never shown. */
  secret(name: string, least: number): string | undefined
  /** Networks in CIDR notation, separated by commas or spaces. */
  networks(name: string, fallback?: string): string[]
  /** An integer from `least` to `most`, both included. */
  integer(name: string, least: number, most: number, fallback: number): number
  /** Like `integer`, or the word `off`; undefined if unset. */
  integerOrOff(name: string, least: number, most: number): number | 'off' | undefined
  choice<T extends string>(name: string, words: readonly T[], fallback: T): T
  /**
   * A text that `parse` accepts; its error message says what would be right, in the form `must be
   * …`.
   */
  parsed<T>(name: string, fallback: string, parse: (text: string) => T): T
  /**
   * An absolute URL with one of the schemes, such as `['http:', 'https:']`, without its final
   * slash.
   */
  url(name: string, schemes: readonly string[]): string | undefined
}

/** Thrown with one line per wrong setting. */
export class SettingsError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The settings are not valid:\n${problems.map((line) => `  ${line}`).join('\n')}`)
    this.name = 'SettingsError'
    this.problems = problems
  }
}

/**
 * Runs `read` on `env`. An empty value counts as unset.
 * @throws SettingsError naming every setting that is missing or wrong
 */
export function readSettings<T>(env: Environment, read: (reader: SettingReader) => T): T {
  const problems: string[] = []
  const source: SettingSource = {
    value: (name) => env[name]?.trim() || undefined,
    wrong: (problem) => void problems.push(problem),
  }
  const settings = read({
    ...textReaders(source),
    ...numberReaders(source),
    ...wordReaders(source),
  })
  if (problems.length > 0) throw new SettingsError(problems)
  return settings
}

/** The environment for readers, and the list of its errors. */
interface SettingSource {
  value: (name: string) => string | undefined
  wrong: (problem: string) => void
}

const textReaders = ({
  value,
  wrong,
}: SettingSource): Pick<SettingReader, 'text' | 'optional' | 'secret' | 'networks' | 'url'> => ({
  text(name, fallback) {
    const text = value(name) ?? fallback
    if (text === undefined) wrong(`${name} must be set`)
    return text ?? ''
  },
  optional: value,
  secret(name, least) {
    const secret = value(name)
    if (secret === undefined || (secret.length >= least && /^[!-~]+$/.test(secret))) return secret
    wrong(`${name} must have at least ${least} characters, all of them visible ASCII`)
    return undefined
  },
  networks(name, fallback = '') {
    const networks = (value(name) ?? fallback).split(/[\s,]+/).filter(Boolean)
    const invalid = networks.filter((network) => !ipaddr.isValidCIDR(network))
    if (invalid.length > 0) {
      wrong(`${name} must list networks such as 10.1.0.0/16, not "${invalid.join(', ')}"`)
    }
    return networks
  },
  url(name, schemes) {
    const url = value(name)
    if (url === undefined) return undefined
    const isBase = !/[?#]/.test(url) // paths are appended to it
    if (isBase && URL.canParse(url) && schemes.includes(new URL(url).protocol)) {
      return url.replace(/\/+$/, '')
    }
    const forms = schemes.map((scheme) => `${scheme}//…`).join(' or ')
    wrong(`${name} must be an address of the form ${forms} without ? and #, not "${url}"`)
    return undefined
  },
})

function numberReaders({
  value,
  wrong,
}: SettingSource): Pick<SettingReader, 'integer' | 'integerOrOff'> {
  const integer: SettingReader['integer'] = (name, least, most, fallback) => {
    const text = value(name)
    if (text === undefined) return fallback
    const number = Number(text)
    if (Number.isInteger(number) && number >= least && number <= most) return number
    wrong(`${name} must be a whole number from ${least} to ${most}, not "${text}"`)
    return fallback
  }
  return {
    integer,
    integerOrOff(name, least, most) {
      const text = value(name)
      if (text === undefined || text === 'off') return text
      return integer(name, least, most, least)
    },
  }
}

const wordReaders = ({
  value,
  wrong,
}: SettingSource): Pick<SettingReader, 'choice' | 'parsed'> => ({
  choice(name, words, fallback) {
    const text = value(name)
    if (text === undefined) return fallback
    const word = words.find((allowed) => allowed === text)
    if (!word) wrong(`${name} must be one of ${words.join(', ')}, not "${text}"`)
    return word ?? fallback
  },
  parsed(name, fallback, parse) {
    try {
      return parse(value(name) ?? fallback)
    } catch (error) {
      wrong(`${name} ${(error as Error).message}`)
      return parse(fallback)
    }
  },
})
