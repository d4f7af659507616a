import { readFileSync } from 'node:fs'

const manifest = new URL('../package.json', import.meta.url)

/** Winnow's version. */
export const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
