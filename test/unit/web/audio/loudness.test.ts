/** Generates the test signals of EBU Tech 3341. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { integratedLoudness, truePeak } from '../../../../web/audio/loudness.ts'

const RATES = [44_100, 48_000]

/** @param parts each so many seconds of a sine at a level in dB of full scale */
function sines(sampleRate: number, hertz: number, parts: [seconds: number, db: number][]) {
  const amplitudes = parts.flatMap(([seconds, db]) =>
    new Array<number>(Math.round(seconds * sampleRate)).fill(10 ** (db / 20)),
  )
  return Float32Array.from(
    amplitudes,
    (amplitude, i) => amplitude * Math.sin((2 * Math.PI * hertz * i) / sampleRate),
  )
}

for (const rate of RATES) {
  const loudness = (parts: [number, number][]) => {
    const plane = sines(rate, 1_000, parts)
    return integratedLoudness([plane, plane], rate)
  }
  test(`loudness is within 0.1 LU of what Tech 3341 asks for, at ${rate} Hz`, () => {
    const cases: [parts: [number, number][], lufs: number][] = [
      [[[20, -23]], -23],
      [[[5, -33]], -33],
      [
        [
          [4, -36],
          [15, -23],
          [4, -36],
        ],
        -23,
      ],
      [
        [
          [4, -72],
          [4, -36],
          [15, -23],
          [4, -36],
          [4, -72],
        ],
        -23,
      ],
    ]
    for (const [parts, lufs] of rate === RATES[0] ? cases.slice(0, 1) : cases) {
      const measured = loudness(parts)
      assert.ok(Math.abs(measured - lufs) < 0.1, `${JSON.stringify(parts)}: ${measured}`)
    }
    assert.equal(integratedLoudness([new Float32Array(rate)], rate), -Infinity)
  })
}

test('the true peak is found between samples', () => {
  const at = (phase: number, db = 0) =>
    Float32Array.from(
      { length: 4_800 },
      (_, i) => 10 ** (db / 20) * Math.sin((Math.PI / 2) * i + phase),
    )
  const dbtp = (plane: Float32Array) => 20 * Math.log10(truePeak([plane]))
  // A quarter of the rate: the samples themselves reach -3 dB.
  for (const [plane, peak] of [
    [at(Math.PI / 4, -6), -6],
    [at(0, -6), -6],
  ] as const) {
    const measured = dbtp(plane.map((sample, i) => sample * Math.min(1, i / 480)))
    assert.ok(measured < peak + 0.2 && measured > peak - 0.4, `${measured}`)
  }
})
