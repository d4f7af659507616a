import assert from 'node:assert/strict'
import test from 'node:test'
import { tableOf } from '../../../bench/songs/table.ts'

test('a row for each model, and a dash where it has no such stem', () => {
  const common = { song: 'one', realTime: 0.5, processorTime: 0.75, commit: 'c', machine: 'm' }
  const text = tableOf([
    { ...common, model: 'spleeter', sdrDb: { vocals: 5.18 }, peakMib: 996 },
    { ...common, model: 'htdemucs', sdrDb: { drums: 10.4, vocals: 5.41 }, peakMib: 1896 },
  ])
  assert.deepEqual(text.split('\n'), [
    '| one | vocals | drums | RTF | processor time | memory |',
    '| --- | --- | --- | --- | --- | --- |',
    '| spleeter | 5.2 | – | 0.50 | 0.75 | 996 MiB |',
    '| htdemucs | 5.4 | 10.4 | 0.50 | 0.75 | 1896 MiB |',
  ])
})
