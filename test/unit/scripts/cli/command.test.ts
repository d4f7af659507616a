import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { command, action, FLAG, TEXT } from '../../../../scripts/cli/command.ts'
import { COMMANDS } from '../../../../scripts/cli/table.mjs'
import { runCommand } from '../../../support/processes/run-command.ts'

const described = command({
  help: 'Usage: fruit peel|count\n\nMore.\n',
  actions: {
    peel: action({
      operands: ['NAME', '[KNIFE]'],
      options: { thin: FLAG, into: TEXT },
      run: ({ thin, into }, names) => `${JSON.stringify({ thin, into, names })}\n`,
    }),
    count: action({ run: () => 7 }),
  },
})

test('a command runs by its first word, its options and operands', async () => {
  const { code, text } = await runCommand(described, ['peel', 'pear', '--into', 'bowl'])
  assert.deepEqual([code, JSON.parse(text)], [0, { thin: false, into: 'bowl', names: ['pear'] }])
  assert.equal((await runCommand(described, ['count'])).code, 7)
  for (const argv of [['--help'], ['peel', '-h']]) {
    assert.equal((await runCommand(described, argv)).text, 'Usage: fruit peel|count\n\nMore.\n')
  }
})

test('a wrong command line says what would be right', async () => {
  for (const [argv, message] of [
    [[], 'Give one of peel, count (see --help).'],
    [['peal', 'pear'], 'Give one of peel, count (see --help). Did you mean "peel"?'],
    [
      ['--thin', 'peel', 'pear'],
      'Give one of peel, count first, and options after it (see --help).',
    ],
    [['peel', 'pear', '--thinn'], 'there is no option --thinn. Did you mean "--thin"?'],
    [['peel'], 'The command is: peel NAME [KNIFE] (see --help).'],
    [['count', 'pear'], 'The command is: count (see --help).'],
  ] as const) {
    const { code, errors } = await runCommand(described, argv)
    assert.deepEqual([code, errors], [2, `${message}\n\nUsage: fruit peel|count\n`])
  }
})

test('bash completes commands, their first words and their options', async () => {
  const completion = await COMMANDS.completion!.load()
  const { text: script } = await runCommand(completion, ['bash'])
  /** Returns the words with which bash would complete the last one. */
  const completions = (...words: string[]) => {
    const set = `COMP_WORDS=(winnow ${words.map((word) => `'${word}'`).join(' ')})`
    const ask = `${set}; COMP_CWORD=${words.length}; _winnow; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-euc', `${script}\n${ask}`], {
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
    return stdout.trim().split('\n')
  }
  assert.deepEqual(completions('se'), ['separate'])
  assert.deepEqual(completions('keys', ''), ['create', 'list', 'revoke', 'rotate'])
  assert.deepEqual(completions('keys', 'create', '--s'), ['--scopes'])
  assert.deepEqual(completions('separate', 'song.mp3', 'drums', '--pre'), ['--predict-spans'])
  assert.deepEqual(completions('completion', 'z'), ['zsh'])
  assert.deepEqual(completions('separate', 'so'), [''], 'files are offered by bash itself')
  const { code, errors } = await runCommand(completion, ['csh'])
  assert.equal(code, 2)
  assert.match(errors, /^completion takes bash, zsh or fish, not "csh"\./)
})
