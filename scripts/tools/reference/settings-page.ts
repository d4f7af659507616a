/**
 * Makes docs/reference/settings.md: settings-text.md, completed with what the schemas of gateway
 * and engine state about each setting: who reads it, its values and its default.
 */

import { readFileSync } from 'node:fs'
import { engineSettings } from '../../../engine/config.ts'
import { gatewaySettings } from '../../../gateway/config.ts'
import type { SettingReader } from '../../../shared/process/settings.ts'

const TEXT = readFileSync(new URL('settings-text.md', import.meta.url), 'utf8')

/** Settings that no schema has, with who reads them. */
const OUTSIDE: Readonly<Record<string, string>> = {
  TF_NUM_INTRAOP_THREADS: 'engine',
  UV_THREADPOOL_SIZE: 'engine',
  WINNOW_CACHE_DIR: 'set-up',
  WINNOW_COMPUTE: 'set-up',
  WINNOW_SONGS: 'set-up',
}

interface Setting {
  readers: string
  values: string
  /** The default as a user would type it; '' if there is none. */
  fallback: string
}

/** @throws Error if the text lacks a setting, or describes one that nobody reads */
export function settingsPage(text = TEXT): string {
  const settings = readSettingsOfAll()
  const described = new Set<string>()
  const page = text
    .replaceAll('| setting | default | |\n|---|---|---|', HEADER)
    .replaceAll(/^\| `([A-Z0-9_]+)` \| (.*?) ?\| (.*) \|$/gm, (_row, name, fallback, words) => {
      const setting = settings.get(name)
      if (!setting) throw new Error(`settings-text.md describes ${name}, which nobody reads`)
      described.add(name)
      const stated = fallback || (setting.fallback && `\`${setting.fallback}\``)
      return `| \`${name}\` | ${words} | ${setting.values} | ${stated} | ${setting.readers} |`
    })
  const missing = [...settings.keys()].filter((name) => !described.has(name))
  if (missing.length > 0) throw new Error(`settings-text.md lacks ${missing.join(', ')}`)
  return page
}

const HEADER = '| setting | | values | default | read by |\n|---|---|---|---|---|'

function readSettingsOfAll(): Map<string, Setting> {
  const all = new Map<string, Setting>()
  const note = (name: string, reader: string, setting: Omit<Setting, 'readers'>) => {
    const readers = new Set([...(all.get(name)?.readers.split(', ') ?? []), reader])
    all.set(name, { ...setting, readers: [...readers].join(', ') })
  }
  gatewaySettings(recorder((name, setting) => note(name, 'gateway', setting)))
  // The engine reads MODELS if it is set, and MODEL otherwise.
  for (const env of [{}, { MODELS: 'mini' }])
    engineSettings(
      recorder((name, setting) => note(name, 'engine', setting)),
      env,
    )
  for (const [name, reader] of Object.entries(OUTSIDE))
    note(name, reader, { values: '', fallback: '' })
  return all
}

/** A reader that finds no setting set, and records what it is asked for. */
function recorder(note: (name: string, setting: Omit<Setting, 'readers'>) => void): SettingReader {
  const range = (least: number, most: number) => `${least} to ${most}`
  return {
    text(name, fallback = '') {
      note(name, { values: '', fallback })
      return fallback
    },
    optional(name) {
      note(name, { values: '', fallback: '' })
      return undefined
    },
    secret(name, least) {
      note(name, { values: `${least} characters or more`, fallback: '' })
      return undefined
    },
    networks(name, fallback = '') {
      note(name, { values: 'networks, with commas', fallback })
      return []
    },
    integer(name, least, most, fallback) {
      note(name, { values: range(least, most), fallback: String(fallback) })
      return fallback
    },
    integerOrOff(name, least, most) {
      note(name, { values: `${range(least, most)}, \`off\``, fallback: '' })
      return undefined
    },
    choice(name, words, fallback) {
      note(name, { values: words.map((word) => `\`${word}\``).join(', '), fallback })
      return fallback
    },
    parsed(name, fallback, parse) {
      note(name, { values: '', fallback })
      return parse(fallback)
    },
    url(name, schemes) {
      note(name, { values: schemes.map((scheme) => `\`${scheme}//…\``).join(', '), fallback: '' })
      return undefined
    },
  }
}
