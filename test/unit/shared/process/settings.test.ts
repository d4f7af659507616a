import assert from 'node:assert/strict'
import test from 'node:test'
import { readSettings, SettingsError } from '../../../../shared/process/settings.ts'

const read = (env: Record<string, string>) =>
  readSettings(env, ({ text, integer, choice, parsed, url, optional }) => ({
    name: text('NAME'),
    port: integer('PORT', 0, 65_535, 8080),
    colour: choice('COLOUR', ['red', 'blue'], 'red'),
    even: parsed('EVEN', '2', evenNumber),
    address: url('ADDRESS', ['https:']),
    extra: optional('EXTRA'),
  }))

function evenNumber(text: string): number {
  if (Number(text) % 2 === 0) return Number(text)
  throw new Error(`must be even, not "${text}"`)
}

test('defaults apply if nothing, or nothing but spaces, is set', () => {
  assert.deepEqual(read({ NAME: 'n', PORT: ' ' }), {
    name: 'n',
    port: 8080,
    colour: 'red',
    even: 2,
    address: undefined,
    extra: undefined,
  })
})

test('settings are read, and an address loses its final slash', () => {
  const env = {
    NAME: 'n',
    PORT: '0',
    COLOUR: 'blue',
    EVEN: '4',
    ADDRESS: 'https://x.org/a/',
    EXTRA: 'e',
  }
  assert.deepEqual(read(env), {
    name: 'n',
    port: 0,
    colour: 'blue',
    even: 4,
    address: 'https://x.org/a',
    extra: 'e',
  })
})

test('every mistake is named at once, with what would be right', () => {
  const env = { PORT: '80.5', COLOUR: 'green', EVEN: '3', ADDRESS: 'http://x.org' }
  assert.throws(
    () => read(env),
    (error: SettingsError) => {
      assert.equal(error.problems.length, 5)
      assert.match(error.message, /NAME must be set/)
      assert.match(error.message, /EVEN must be even, not "3"/)
      assert.match(error.message, /PORT must be a whole number from 0 to 65535, not "80.5"/)
      assert.match(error.message, /COLOUR must be one of red, blue, not "green"/)
      assert.match(error.message, /ADDRESS must be an address of the form https:\/\//)
      return true
    },
  )
})

test('an address that paths are appended to has no query', () => {
  for (const ADDRESS of ['https://x.org/a?b=c', 'https://x.org/#a']) {
    const problem = /ADDRESS must be an address of the form https:\/\/… without \? and #/
    assert.throws(() => read({ NAME: 'n', ADDRESS }), problem)
  }
})

test('a setting that is a number or off has either, or is undefined', () => {
  const readPort = (env: Record<string, string>) =>
    readSettings(env, ({ integerOrOff }) => integerOrOff('PORT', 0, 65_535))
  assert.equal(readPort({}), undefined)
  assert.equal(readPort({ PORT: 'off' }), 'off')
  assert.equal(readPort({ PORT: '0' }), 0)
  assert.throws(() => readPort({ PORT: 'on' }), /PORT must be a whole number from 0 to 65535/)
})
