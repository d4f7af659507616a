/** Makes docs/reference/cli.md from the help of every command. */

import { readFileSync } from 'node:fs'
import { COMMANDS } from '../../cli/table.mjs'

const HEAD = readFileSync(new URL('cli-head.md', import.meta.url), 'utf8')

export async function cliPage(): Promise<string> {
  const rows = Object.entries(COMMANDS)
  const sections = rows.map(async ([name, { load }]) => section(name, await load()))
  return [HEAD, ...(await Promise.all(sections))].join('\n')
}

const section = (name: string, { help }: { help: string }): string =>
  `## ${name}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`
