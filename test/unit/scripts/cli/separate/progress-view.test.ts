import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import test from 'node:test'
import {
  createManyFilesView,
  createProgressView,
} from '../../../../../scripts/cli/separate/progress-view.ts'

const COLUMNS = 60
/** More lines than any terminal has rows, because the output must not depend on the row. */
const NOTES = 200
/** Wider than the terminal. */
const LONG = 'INVALID_MEDIA: The file is text. '.repeat(4)

function terminal() {
  let written = ''
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString()
      done()
    },
  })
  /**
   * Returns the lines that a terminal shows for what was written since; the view itself wraps long
   * ones.
   */
  const shown = (): string[] => {
    const lines = ['']
    for (const [token] of written.matchAll(/\r\x1b\[K|\n|\x1b.*|[^\r\n\x1b]+/g)) {
      assert.doesNotMatch(token, /^\x1b/, 'nothing else moves the cursor')
      if (token === '\n') lines.push('')
      else lines[lines.length - 1] = token.startsWith('\r') ? '' : lines.at(-1) + token
    }
    written = ''
    return lines
  }
  return Object.assign(output, { isTTY: true, columns: COLUMNS, shown })
}

test('no line of several files is lost to the bar, however many they are', () => {
  const output = terminal()
  const view = createManyFilesView(output, false, NOTES)
  const out = view.above(output)
  for (let i = 0; i < NOTES; i += 1) {
    const file = view.file()
    file.show('separating', 0.5)
    file.note(`${i} ${LONG}`)
    out.write(`${i}.wav\n`)
    file.stop()
  }
  const [last, ...lines] = output.shown().reverse()
  assert.match(last!, /^█{30} 100% 200 of 200 files$/)
  const expected = Array.from({ length: NOTES }, (_, i) => [`${i} ${LONG}`, `${i}.wav`])
  assert.deepEqual(lines.reverse(), expected.flat())
  view.stop()
  assert.deepEqual(output.shown(), [''])
})

test('the line of a single file fits the terminal, and keeps its notes', () => {
  const output = terminal()
  const view = createProgressView(output, false)
  view.note('a note')
  view.show('separating', 0.5, 61.4)
  const [note, line] = output.shown()
  assert.equal(note, 'a note')
  assert.match(line!, /^separating +█{15}░/)
  assert.equal(line!.length, COLUMNS - 1)
  output.columns = 100
  view.show('separating', 0.5, 61.4)
  assert.match(output.shown()[0]!, / 50%, about 1m left$/)
  view.show('separating', 1, 0)
  assert.match(output.shown()[0]!, / 100%$/)
  view.stop()
  assert.deepEqual(output.shown(), [''])
})

test('without a terminal there is a line for each phase, which says what it waits for', () => {
  const output = Object.assign(terminal(), { isTTY: false })
  const view = createProgressView(output, false)
  for (const part of [0, 0.5, 1]) view.show('uploading', part)
  for (const ahead of [3, 2, 1]) view.show(`waiting for a free engine, ${ahead} ahead`, 0, 90)
  view.show('waiting for a free engine', 0)
  for (const part of [0, 0.1, 0.2, 1]) view.show('separating', part)
  assert.deepEqual(output.shown(), [
    'uploading',
    'waiting for a free engine, 3 ahead, about 2m left',
    'separating',
    '',
  ])
})

test('a phase without progress has no bar, which would stand still', () => {
  const output = terminal()
  const view = createProgressView(output, false)
  view.show('waiting for a free engine, 3 ahead', 0)
  assert.deepEqual(output.shown(), ['waiting for a free engine, 3 ahead'])
})
