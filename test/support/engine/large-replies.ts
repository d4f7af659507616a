/** A compute process that answers each `close` with a second of sound, and opens nothing. */

const target = [new Float32Array(2 ** 18).fill(1)]
const held = { graphs: 0, memoryBytes: 0, memoryPeakBytes: 0, residentBytes: 0 }

process.once('message', () => {
  process.on('message', ({ call, lane }: { call: number; lane: number }) => {
    // The name moves the sound by some bytes. Node copies sound that isn't at a multiple of four.
    const result = { understoodAs: 'x'.repeat(lane), target, score: 0 }
    process.send!({ call, seconds: 0, held, value: [result] })
  })
  process.send!({ ready: {}, held })
})
