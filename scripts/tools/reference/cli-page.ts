/** docs/reference/cli.md. */

import { readFileSync } from 'node:fs'
import { COMMANDS } from '../../cli/commands.ts'
import { completion } from '../../cli/completion/command.ts'
import { installHost } from '../../cli/install-host/command.ts'

const HEAD = readFileSync(new URL('cli-head.md', import.meta.url), 'utf8')

export const cliPage = (): string =>
  [
    HEAD,
    ...Object.entries({ ...COMMANDS, completion, 'install-host': installHost }).map(section),
  ].join('\n')

const section = ([name, { help }]: [string, { help: string }]): string =>
  `## ${name}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`
