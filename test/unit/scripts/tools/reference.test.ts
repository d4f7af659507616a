import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { actionsOf, optionNames } from '../../../../scripts/cli/command.ts'
import { COMMANDS } from '../../../../scripts/cli/table.mjs'
import { cliPage } from '../../../../scripts/tools/reference/cli-page.ts'
import { settingsPage } from '../../../../scripts/tools/reference/settings-page.ts'

test('docs/reference/cli.md has the help of every command', async () => {
  const page = readFileSync('docs/reference/cli.md', 'utf8')
  assert.ok(
    page === (await cliPage()),
    'docs/reference/cli.md is stale: run npm run winnow -- reference',
  )
})

test('docs/reference/settings.md has every setting of the schemas', () => {
  const page = readFileSync('docs/reference/settings.md', 'utf8')
  assert.ok(
    page === settingsPage(),
    'docs/reference/settings.md is stale: run npm run winnow -- reference',
  )
  assert.match(page, /^\| `OUTPUT_DAYS` \| Lifetime of a result \| 1 to 365 \| `7` \| gateway \|$/m)
  assert.match(page, /^\| `MEDIA_SECONDS_MAX` .* \| `7200` \| gateway, engine \|$/m)
})

test('a setting without a description, and a description without a setting, are named', () => {
  assert.throws(() => settingsPage('| `PORT` | | Port |\n'), /lacks DATA_DIR/)
  assert.throws(() => settingsPage('| `PROT` | | Port |\n'), /describes PROT/)
})

test('the help of a command names all its actions and options, and no other option', async () => {
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const each = await load()
    const { help } = each
    const actions = Object.entries(actionsOf<never>(each))
    const options = actions.flatMap(([, { options }]) => optionNames(options))
    const named = ['--help', ...(help.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [])]
    assert.deepEqual([...new Set(named)].sort(), [...new Set(options)].sort(), name)
    for (const [action] of actions) assert.match(help, new RegExp(`\\b${action}\\b`), name)
  }
})

test('the manual page names the commands of a package, and no others', () => {
  const page = readFileSync('scripts/tools/package/deb/winnow.1', 'utf8').replaceAll('\\-', '-')
  const [, synopsis = ''] = /\.SH SYNOPSIS\n([^]*)\.SH DESCRIPTION/.exec(page) ?? []
  const [, others = ''] = /winnow keys" \|(.*)/.exec(synopsis) ?? []
  const single = Array.from(synopsis.matchAll(/winnow ([\w-]+)/g), ([, name = '']) => name)
  const named = [...single, ...others.split('|').map((name) => name.trim())]
  assert.deepEqual(named.sort(), ['start', ...Object.keys(COMMANDS)].sort())
})
