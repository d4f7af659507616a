/** The service's main job with real parts, over HTTP; claims about sound are measured on the sound. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { connectEngine, type EngineStats } from '../../../shared/engine-control.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { concatenate, noise, sine, type Planes } from '../../support/media/signals.ts'
import { readWav24, wavBytes } from '../../support/media/wav.ts'
import {
  examplePath,
  readWav16,
  siSdr,
  SUM_ERROR_MAX,
  sumError,
} from '../../support/media/examples.ts'
import {
  downloadResult,
  followToEnd,
  separateFile,
  submitFile,
} from '../../support/processes/start-winnow.ts'
import { separated, winnow } from './winnow.ts'

interface Example {
  name: string
  prompts: readonly { prompt: string; source: string; si_sdr_db: number }[]
}
const examples = JSON.parse(readFileSync(examplePath('examples.json'), 'utf8')) as Example[]
/** Tolerance between machines, which sum in another order; the documented value is rounded too. */
const APART_DB_MAX = 0.2

for (const { name: example, prompts } of examples) {
  for (const { prompt, source, si_sdr_db: statedDb } of prompts) {
    test(`"${prompt}" is found in ${example}, at ${statedDb} dB of SI-SDR`, async (t) => {
      const truth = await readWav16(examplePath(`sources/${example}/${source}.wav`))
      const path = examplePath(`${example}.wav`)
      const { submitted } = await separateFile(winnow, path, { prompt })
      const files = await downloadResult(winnow, submitted)
      const [finding] = files.result.data.findings!
      assert.equal(finding!.state, 'found', finding!.message)
      assert.ok(finding!.match! >= 0.5, finding!.message)
      assert.ok(finding!.share! > 0.6, 'both sounds of an example go on to its end')
      await assertWhole(files, path)
      const db = siSdr(readWav24(files.target).planes, truth)
      t.diagnostic(`${db.toFixed(2)} dB`)
      assert.ok(Math.abs(db - statedDb) <= APART_DB_MAX, `${db} dB`)
    })
  }
}

/** Prompts that are not names of sounds, and what their targets should contain. */
const OTHER_PROMPTS = [
  {
    example: 'drums-and-flute',
    prompt: 'no drums',
    source: 'flute',
    file: /\.without-drums\.wav$/,
    message: /^Everything but the drums; the drums were found/,
  },
  {
    example: 'drums-and-flute',
    prompt: 'alles außer der Flöte',
    source: 'drums',
    file: /\.without-flöte\.wav$/,
    message: /^Everything but the flute; the flute was found/,
  },
  {
    example: 'siren-and-speech',
    prompt: 'noise',
    source: 'siren',
    file: /\.without-speech\.wav$/,
    message: /^Everything but the speech/,
  },
  {
    example: 'siren-and-speech',
    prompt: 'remove background noise',
    source: 'speech',
    file: /\.speech\.wav$/,
    message: /found/,
  },
]

for (const { example, prompt, source, file, message } of OTHER_PROMPTS) {
  test(`"${prompt}" in ${example} gives the ${source}`, async () => {
    const path = examplePath(`${example}.wav`)
    const { submitted } = await separateFile(winnow, path, { prompt })
    const files = await downloadResult(winnow, submitted)
    const { target, findings } = files.result.data
    assert.match(target.file_name, file)
    assert.match(findings![0]!.message, message)
    assert.equal(findings![0]!.state, 'found')
    const truth = await readWav16(examplePath(`sources/${example}/${source}.wav`))
    const db = siSdr(readWav24(files.target).planes, truth)
    assert.ok(db > 7, `${db} dB`)
    await assertWhole(files, path)
  })
}

test('a target contains both sounds of its prompt, and an unknown sound is not removed', async () => {
  const path = examplePath('drums-and-flute.wav')
  const mixture = await readWav16(path)
  for (const [prompt, state] of [
    ['drums and flute', 'found'],
    ['no qwzrtx', 'unknown'],
  ]) {
    const { submitted } = await separateFile(winnow, path, { prompt: prompt! })
    const files = await downloadResult(winnow, submitted)
    assert.equal(files.result.data.findings![0]!.state, state)
    const db = siSdr(readWav24(files.target).planes, mixture)
    assert.ok(db > 20, `"${prompt}": ${db} dB`)
  }
})

test('a sound is found where it is, and an absent one is not found', async (t) => {
  const sourceOf = async (name: string) =>
    (await readWav16(examplePath(`sources/speech-over-piano/${name}.wav`)))[0]!
  const path = join(winnow.folder, 'speech-then-piano.wav')
  const turns = concatenate([await sourceOf('speech'), await sourceOf('piano')])
  await writeFile(path, wavBytes([turns], 44_100))
  const findingOf = async (prompt: string) => {
    const { submitted } = await separateFile(winnow, path, { prompt })
    const [finding] = (await downloadResult(winnow, submitted)).result.data.findings!
    t.diagnostic(`${prompt}: ${JSON.stringify(finding)}`)
    return finding!
  }
  const [piano, speech] = [await findingOf('piano'), await findingOf('speech')]
  assert.deepEqual([piano.state, speech.state], ['found', 'found'])
  assert.ok(piano.where![0]!.start > 3.5 && piano.where!.at(-1)!.end > 11, 'from 6 to 12 s')
  assert.ok(speech.where![0]!.start < 1 && speech.where!.at(-1)!.end < 8.5, 'from 0 to 6 s')
  for (const absent of ['dog', 'siren', 'rain']) {
    assert.notEqual((await findingOf(absent)).state, 'found', absent)
  }
})

type Files = Awaited<ReturnType<typeof downloadResult>>

/** Asserts that both files have the format of the mixture and add up to it. */
async function assertWhole(files: Files, path: string): Promise<void> {
  const mixture = await readWav16(path)
  const [target, residual] = [readWav24(files.target), readWav24(files.residual)]
  assert.deepEqual([target.sampleRate, target.bits], [44_100, 24])
  for (const { planes } of [target, residual]) {
    assert.deepEqual(
      planes.map(({ length }) => length),
      mixture.map(({ length }) => length),
    )
  }
  assert.ok(sumError(target.planes, residual.planes, mixture) <= SUM_ERROR_MAX)
}

test('the result says how long the media is, what it cost and how long it is kept', async () => {
  const { submitted } = await separateFile(winnow, examplePath('siren-and-speech.wav'), {
    prompt: 'siren',
  })
  const { data, usage, retention } = await winnow.client.result(submitted)
  assert.deepEqual([data.duration, data.sample_rate], [6, 44_100])
  assert.deepEqual(usage, { feature: 'audio_seconds', quantity: 6, billing_status: 'not_metered' })
  assert.ok(Date.parse(retention.delete_after!) > Date.now() + 6 * 86_400_000)
})

test('the status stream sends every status, progress that only grows, and the logs', async () => {
  const path = await writeLongFile('long.wav', 45)
  const submitted = await submitFile(winnow, path, { prompt: 'a beep' })
  const statuses = await followToEnd(winnow, submitted)
  const order = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']
  const ranks = statuses.map(({ status }) => order.indexOf(status))
  assert.deepEqual(ranks, [...ranks].sort())
  assert.equal(statuses.at(-1)?.status, 'COMPLETED')
  const progress = statuses.flatMap((status) => status.progress ?? [])
  assert.deepEqual(
    progress,
    [...progress].sort((a, b) => a - b),
  )
  assert.ok(new Set(progress).size >= 3, `progress was ${progress}`)
  const logs = (statuses.at(-1)?.logs ?? []).map(({ message }) => message).join('\n')
  assert.match(logs, /pcm_s16le/)
  assert.match(logs, /chunks of .* overlapping/)
})

test('concurrent requests share batches, with the same results as alone', async () => {
  const cases = examples.map(({ name, prompts: [first] }) => ({
    path: examplePath(`${name}.wav`),
    prompt: first!.prompt,
  }))
  const run = async ({ path, prompt }: { path: string; prompt: string }) =>
    (await separated(path, { prompt })).target
  const alone = []
  for (const each of cases) alone.push(await run(each))
  const before = await engineStats()
  const together = await Promise.all([...cases, ...cases].map(run))
  const after = await engineStats()
  const meanBatch =
    (after.lane_steps_total - before.lane_steps_total) / (after.steps_total - before.steps_total)
  assert.ok(meanBatch > 1, `${meanBatch} lanes a batch`)
  for (const [i, planes] of together.entries()) {
    for (const [c, plane] of planes.entries()) {
      assertClose(plane, alone[i % cases.length]![c]!, { absolute: 2e-5 })
    }
  }
})

test('a file that is no media fails as INVALID_MEDIA, without a result or sounds', async () => {
  const path = join(winnow.folder, 'text.amr')
  await writeFile(path, 'All work and no play makes Jack a dull boy.\n'.repeat(500))
  const { last, submitted } = await separateFile(winnow, path, { prompt: 'x' })
  assert.deepEqual([last.status, last.error?.code], ['FAILED', 'INVALID_MEDIA'])
  assert.match(last.error!.message, /is text/)
  await assert.rejects(winnow.client.result(submitted), {
    code: 'REQUEST_FAILED',
    message: /INVALID_MEDIA/,
  })
  await assert.rejects(winnow.client.sounds(path), { code: 'INVALID_MEDIA' })
})

const odd: { name: string; planes: Planes; sampleRate: number }[] = [
  { name: 'one sample', planes: [Float32Array.of(0.5)], sampleRate: 44_100 },
  {
    name: '192 kHz stereo',
    planes: [noise(1, 192_000), noise(1, 192_000, 7)],
    sampleRate: 192_000,
  },
  {
    name: '5.1 channels',
    sampleRate: 48_000,
    planes: [1, 2, 3, 4, 5, 6].map((seed) => noise(1, 48_000, seed)),
  },
]

for (const { name, planes, sampleRate } of odd) {
  test(`${name}: target and residual keep rate, channels and length, and sum to the mixture`, async () => {
    const path = join(winnow.folder, `${name}.wav`)
    await writeFile(path, wavBytes(planes, sampleRate, 'pcm16'))
    const { submitted, last } = await separateFile(winnow, path, { prompt: 'white noise' })
    assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
    const files = await downloadResult(winnow, submitted)
    const [target, residual] = [readWav24(files.target), readWav24(files.residual)]
    assert.equal(target.sampleRate, sampleRate)
    assert.deepEqual(
      target.planes.map(({ length }) => length),
      planes.map(({ length }) => length),
    )
    const sixteenBits = planes.map((plane) =>
      plane.map((x) => Math.max(-32_768, Math.min(32_767, Math.round(x * 32_768))) / 32_768),
    )
    assert.ok(sumError(target.planes, residual.planes, sixteenBits) <= 3 / 2 ** 23)
  })
}

test('a target for an unknown prompt is not named after it', async () => {
  const path = examplePath('speech-over-piano.wav')
  const { submitted, last } = await separateFile(winnow, path, { prompts: ['lawn mower', 'piano'] })
  const { data } = await winnow.client.result(submitted)
  const [unknown, found] = data.findings!
  assert.deepEqual(last.findings, data.findings)
  assert.equal(unknown!.state, 'unknown')
  assert.equal(unknown!.holds, 'everything but speech')
  assert.ok(unknown!.nearest!.includes('vacuum cleaner'), unknown!.message)
  assert.match(
    unknown!.message,
    /does not know "lawn mower".* The nearest names to try: "helicopter/,
  )
  assert.equal(found!.state, 'found')
  assert.deepEqual(
    data.targets!.map(({ file_name: name }) => name),
    ['speech-over-piano.everything-but-speech-not-lawn-mower.wav', 'speech-over-piano.piano.wav'],
  )
})

test('what mp3 cannot hold is reported, with the real rate of the outputs', async () => {
  const path = join(winnow.folder, 'six-channels.wav')
  const planes = [1, 2, 3, 4, 5, 6].map((seed) => noise(1, 96_000, seed))
  await writeFile(path, wavBytes(planes, 96_000))
  const { submitted, last } = await separateFile(winnow, path, {
    prompt: 'noise',
    output_format: 'mp3',
  })
  const { data } = await winnow.client.result(submitted)
  assert.deepEqual([data.sample_rate, data.duration], [48_000, 1])
  assert.equal(
    last.logs?.at(-1)?.message,
    'Stored target and residual as mp3 at 48000 Hz, mixed down to 2 channels.',
  )
})

test('a request in progress can be canceled and ends as CANCELED', async () => {
  const path = await writeLongFile('to-cancel.wav', 1_200)
  const submitted = await submitFile(winnow, path, { prompt: 'a beep', acceleration: 'quality' })
  const statuses = []
  for await (const status of winnow.client.follow(submitted)) {
    if (status.status === 'IN_PROGRESS' && statuses.length === 0) {
      statuses.push(status)
      await winnow.client.cancel(submitted)
    }
    if (status.status !== 'IN_PROGRESS' && status.status !== 'IN_QUEUE') statuses.push(status)
  }
  assert.equal(statuses.at(-1)?.status, 'FAILED')
  assert.equal(statuses.at(-1)?.error?.code, 'CANCELED')
  await assert.rejects(winnow.client.result(submitted), { code: 'REQUEST_FAILED' })
})

test('the sounds of a mixture are listed by name, the most certain first, as its separation does', async () => {
  const sources = ['drums-and-flute/drums.wav', 'siren-and-speech/speech.wav']
  const paths = sources.map((name) => examplePath(`sources/${name}`))
  const [drums, speech] = (await Promise.all(paths.map(readWav16))).map(([plane]) => plane!)
  const length = Math.min(drums!.length, speech!.length)
  const sum = drums!.subarray(0, length).map((sample, i) => (sample + speech![i]!) / 2)
  const path = join(winnow.folder, 'drums-and-speech.wav')
  await writeFile(path, wavBytes([sum], 44_100))
  const [listed, separation] = await Promise.all([
    winnow.client.sounds(path),
    winnow.client.separate(path, 'drums'),
  ])
  const { sounds, duration } = listed.data
  const names = sounds.map(({ name }) => name)
  assert.equal(names[0], 'drum kit')
  assert.ok(names.includes('man'))
  assert.deepEqual([duration, listed.usage.quantity], [length / 44_100, 1])
  for (const { spans, share } of sounds) {
    const isInside = spans.every(
      ({ start, end }) => 0 <= start && start < end && end <= duration + 0.01,
    )
    assert.ok(isInside && share > 0 && share <= 1)
  }
  assert.deepEqual(
    separation.data.sounds?.map(({ name }) => name),
    names,
  )
})

/** Writes a long file of beeps in noise. */
async function writeLongFile(name: string, seconds: number): Promise<string> {
  const path = join(winnow.folder, name)
  const sampleRate = 16_000
  const beep = sine(880, seconds, sampleRate)
  const planes = [
    noise(seconds, sampleRate).map((x, i) => 0.3 * x + (i % 16_000 < 4_000 ? beep[i]! : 0)),
  ]
  await writeFile(path, wavBytes(planes, sampleRate))
  assert.ok((await readFile(path)).length > seconds * sampleRate * 2)
  return path
}

async function engineStats(): Promise<EngineStats> {
  const engine = connectEngine(winnow.engines[0]!.ready.control!)
  try {
    return await new Promise((resolve) => {
      const stop = engine.watchStats(60_000, (stats) => {
        stop()
        resolve(stats)
      })
    })
  } finally {
    engine.close()
  }
}
