import assert from 'node:assert/strict'
import test from 'node:test'
import { readSettings, SettingsError } from '../../../shared/settings.ts'

const read = (env: Record<string, string>) =>
  readSettings(env, ({ text, integer, choice, url, optional }) => ({
    name: text('NAME'),
    port: integer('PORT', 0, 65_535, 8080),
    colour: choice('COLOUR', ['red', 'blue'], 'red'),
    address: url('ADDRESS', ['https:']),
    extra: optional('EXTRA'),
  }))

test('defaults stand where nothing, or nothing but blanks, is set', () => {
  assert.deepEqual(read({ NAME: 'n', PORT: ' ' }),
    { name: 'n', port: 8080, colour: 'red', address: undefined, extra: undefined })
})

test('what is set is read, and an address loses its final slash', () => {
  const env = { NAME: 'n', PORT: '0', COLOUR: 'blue', ADDRESS: 'https://x.org/a/', EXTRA: 'e' }
  assert.deepEqual(read(env),
    { name: 'n', port: 0, colour: 'blue', address: 'https://x.org/a', extra: 'e' })
})

test('every mistake is named at once, with what would be right', () => {
  const env = { PORT: '80.5', COLOUR: 'green', ADDRESS: 'http://x.org' }
  assert.throws(() => read(env), (error: SettingsError) => {
    assert.equal(error.problems.length, 4)
    assert.match(error.message, /NAME must be set/)
    assert.match(error.message, /PORT must be a whole number from 0 to 65535, not "80.5"/)
    assert.match(error.message, /COLOUR must be one of red, blue, not "green"/)
    assert.match(error.message, /ADDRESS must be an address of the form https:\/\//)
    return true
  })
})

test('a setting of a number or off is either, or undefined', () => {
  const readPort = (env: Record<string, string>) =>
    readSettings(env, ({ integerOrOff }) => integerOrOff('PORT', 0, 65_535))
  assert.equal(readPort({}), undefined)
  assert.equal(readPort({ PORT: 'off' }), 'off')
  assert.equal(readPort({ PORT: '0' }), 0)
  assert.throws(() => readPort({ PORT: 'on' }), /PORT must be a whole number from 0 to 65535/)
})
