import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandText, setUpAgain } from '../../../../scripts/cli/command-name.ts'
import { COMMANDS } from '../../../../scripts/cli/table.mjs'
import { shellWord } from '../../../../shared/shell-word.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const INSTALLATION = join(ROOT, 'scripts/cli/installation.mjs')
/** Git pathspecs; the changelog is left out because it names the commands of its time. */
const TEXTS = ['*.md', '*.ts', '*.mjs', '*.yml', '*.py', ':!CHANGELOG.md', ':!bench/results']
const NAMED = /npm run (?:-s )?([a-z][\w:-]*)(?: -- ([a-z][\w-]*))?/g

interface Installation {
  MORE_PROGRAMS: Readonly<Record<string, string>>
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

test('commands are named as the installation has them', () => {
  assert.equal(commandText('start'), 'npm start')
  assert.equal(commandText('doctor'), 'npm run doctor')
  assert.equal(commandText('keys', 'list'), 'npm run keys -- list')
  assert.equal(commandText('backup'), 'npm run winnow -- backup')
  assert.equal(commandText('backup', 'restore F'), 'npm run winnow -- backup restore F')
  assert.equal(commandText('start', '', 'npx winnow'), 'npx winnow start')
  assert.equal(commandText('keys', 'list', 'winnow'), 'winnow keys list')
})

test('a shell reads a word of a printed command as that word', () => {
  for (const word of ['a dog', "a dog's $(tail) `now`", 'a"b\\c', '', '*.wav', 'ä\nb']) {
    const printed = execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })
    assert.equal(printed, word)
  }
  assert.equal(shellWord('/data/my-song.wav'), '/data/my-song.wav')
})

test('the advice on repeating set-up names a command that the installation has', () => {
  assert.equal(setUpAgain(), 'Run npm run setup.')
  assert.equal(setUpAgain('cuda'), 'Run WINNOW_COMPUTE=cuda npm run setup.')
  assert.match(setUpAgain(undefined, 'npx winnow'), /^Remove \/.* and run npx winnow doctor\.$/)
  assert.equal(setUpAgain('cpu', 'npx winnow'), 'Run WINNOW_COMPUTE=cpu npx winnow doctor.')
  for (const other of [undefined, 'cuda'] as const) {
    assert.match(setUpAgain(other, 'winnow'), /^Install the package again, or load the image/)
  }
})

test("package.json has few scripts; documents and messages only name those and winnow's commands", async () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  assert.ok(Object.keys(scripts).length <= 17)
  for (const script of Object.values(scripts)) {
    const [, command] = /scripts\/cli\/main\.ts (.+)/.exec(script) ?? []
    assert.ok(command === undefined || command in COMMANDS, script)
  }
  const { MORE_PROGRAMS } = (await import(INSTALLATION)) as Installation
  for (const program of Object.values(MORE_PROGRAMS)) assert.ok(existsSync(join(ROOT, program)))
  const { stdout: help } = spawnSync('npm', ['run', '-s', 'winnow'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const files = execFileSync('git', ['ls-files', ...TEXTS], { cwd: ROOT, encoding: 'utf8' })
  for (const file of files.trim().split('\n')) {
    for (const [, name = '', command] of read(file).matchAll(NAMED)) {
      assert.ok(name in scripts, `${file}: npm run ${name}`)
      if (name !== 'winnow' || command === undefined) continue
      assert.match(
        help,
        new RegExp(`(^|[ |])${command}($|[ |])`, 'm'),
        `${file}: winnow ${command}`,
      )
    }
  }
})
