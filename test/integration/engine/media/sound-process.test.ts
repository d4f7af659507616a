/** Files that need too many resources are refused without affecting others that are being read. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SOUND_LIMITS, SoundProcesses } from '../../../../engine/media/process/sound-process.ts'
import { concatenate, noise } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { assertBetween, assertNear, mediaFolder, NO_LIMITS, readSound } from './read-sound.ts'

const { save, make } = mediaFolder()
const { signal } = new AbortController()
const SECONDS_MAX = { secondsMax: 7200 }
const RATE = 44_100
const METHODS = { blocks: null, close: null }

const word = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes
}

const box = (name: string, ...content: Buffer[]): Buffer => {
  const body = Buffer.concat(content)
  return Buffer.concat([word(body.length + 8), Buffer.from(name, 'latin1'), body])
}

const FOLDERS = ['moov', 'trak', 'mdia', 'minf', 'stbl']

/** Applies `change` to the MP4 boxes that contain no others; returning none removes a box. */
function changeBoxes(bytes: Buffer, change: (name: string, body: Buffer) => Buffer[]): Buffer {
  const out: Buffer[] = []
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
    const name = bytes.toString('latin1', at + 4, at + 8)
    const body = bytes.subarray(at + 8, at + bytes.readUInt32BE(at))
    if (FOLDERS.includes(name)) out.push(box(name, changeBoxes(body, change)))
    else out.push(...change(name, body))
  }
  return Buffer.concat(out)
}

const SAMPLES = 80_000_000

async function plainM4a(): Promise<Buffer> {
  const audio = { planes: [noise(0.5, RATE)], sampleRate: RATE, encoder: 'aac' } as const
  return readFile(await make('plain.m4a', 'ipod', { audio }))
}

/** An index that claims 80 million samples of one byte each. */
const indexBomb = async (): Promise<Buffer> =>
  changeBoxes(await plainM4a(), (name, body) => {
    if (name === 'stsz') return [box(name, word(0, 1, SAMPLES))]
    if (name === 'stts') return [box(name, word(0, 1, SAMPLES, 1024))]
    if (name === 'stsc') return [box(name, word(0, 1, 1, SAMPLES, 1))]
    return [box(name, body)]
  })

/** Claims the same in a fragment, which FFmpeg only finds while it reads packets. */
async function fragmentBomb(): Promise<Buffer> {
  const plain = changeBoxes(await plainM4a(), (name, body) => {
    if (name === 'mdat') return []
    if (name === 'stsz') return [box(name, word(0, 0, 0))]
    if (['stts', 'stsc', 'stco'].includes(name)) return [box(name, word(0, 0))]
    if (name === 'mvhd')
      return [box(name, body), box('mvex', box('trex', word(0, 1, 1, 1024, 1, 0)))]
    return ['sgpd', 'sbgp', 'edts'].includes(name) ? [] : [box(name, body)]
  })
  const run = box('trun', word(0, SAMPLES))
  const fragment = box(
    'moof',
    box('mfhd', word(0, 1)),
    box('traf', box('tfhd', word(0x20000, 1)), run),
  )
  return Buffer.concat([plain, fragment, box('mdat', Buffer.alloc(4096))])
}

test('a file of very many streams is INVALID_MEDIA, which says how many it may have', async () => {
  const plain = await plainM4a()
  const start = plain.indexOf('trak') - 4
  const track = plain.subarray(start, start + plain.readUInt32BE(start))
  const withTracks = (count: number): Buffer => {
    const moov = plain.subarray(plain.indexOf('moov') - 4)
    const more = Array<Buffer>(count - 1).fill(track)
    const bytes = Buffer.concat([plain.subarray(0, start), ...more, plain.subarray(start)])
    bytes.writeUInt32BE(moov.readUInt32BE() + (count - 1) * track.length, plain.indexOf('moov') - 4)
    return bytes
  }
  const processes = new SoundProcesses(tmpdir())
  const measure = async (count: number) => {
    const path = await save('streams.m4a', withTracks(count))
    return processes.use(signal, (reader) => reader.measure(path, SECONDS_MAX))
  }
  assertNear((await measure(256))!, 0.5, 0.05)
  const message = /has 257 streams; it may have 256 at most/
  await assert.rejects(measure(257), { code: 'INVALID_MEDIA', message })
})

/** Peak resident memory of this process so far, in KiB. */
const peak = () => process.resourceUsage().maxRSS

for (const [what, make, message] of [
  ['an index', indexBomb, /No sound could be decoded/], // FFmpeg carries on without the index
  ['a fragment', fragmentBomb, /takes more than 512 MiB of memory/],
] as const) {
  test(`${what} of gigabytes in a file of kilobytes is INVALID_MEDIA, and costs this process nothing`, async () => {
    const bytes = await make()
    assertBetween(bytes.length, 1_000, 50_000)
    const path = await save('bomb.m4a', bytes)
    const before = peak()
    const processes = new SoundProcesses(tmpdir())
    const reading = processes.use(signal, async (reader) => {
      await reader.measure(path, SECONDS_MAX)
      return reader.open(path, NO_LIMITS)
    })
    await assert.rejects(reading, { code: 'INVALID_MEDIA', message })
    assertBetween((peak() - before) / 1_024, 0, 50) // MiB
  })
}

/** Repeats one AAC packet to fill a file of nearly two hours. */
async function longM4a(): Promise<Buffer> {
  const plain = await plainM4a()
  let packetBytes = 0
  changeBoxes(plain, (name, body) => {
    if (name === 'stsz') packetBytes = body.readUInt32BE(16) // of the second packet
    return []
  })
  const packets = Math.ceil((7_000 * RATE) / 1024)
  const sizes = Buffer.alloc(4 * packets, word(packetBytes))
  return changeBoxes(plain, (name, body) => {
    if (name === 'mdat') return [box(name, Buffer.alloc(packets * packetBytes))]
    if (name === 'stsz') return [box(name, word(0, 0, packets), sizes)]
    if (name === 'stts') return [box(name, word(0, 1, packets, 1024))]
    if (name === 'stsc') return [box(name, word(0, 1, 1, packets, 1))]
    return ['edts', 'sgpd', 'sbgp'].includes(name) ? [] : [box(name, body)]
  })
}

test('a file of two hours is read in half of the allowed memory', async () => {
  const path = await save('long.m4a', await longM4a())
  const processes = new SoundProcesses(tmpdir(), {
    ...SOUND_LIMITS,
    bytesMax: SOUND_LIMITS.bytesMax / 2,
  })
  const seconds = await processes.use(signal, (reader) => reader.measure(path, SECONDS_MAX))
  assertNear(seconds!, 7_000, 1)
})

test('the sound and its remarks are those of the file', async () => {
  const wave = noise(1.2, RATE)
  const path = await save('plain.wav', wavBytes([wave, wave], RATE))
  const expected = await readSound(path)
  await new SoundProcesses(tmpdir()).use(signal, async (reader) => {
    for (let file = 0; file < 2; file++) {
      assertNear((await reader.measure(path, SECONDS_MAX))!, 1.2, 0.001)
      const mixture = await reader.open(path, NO_LIMITS)
      assert.deepEqual(
        { ...mixture, ...METHODS },
        { ...expected.mixture, corruptPackets: 0, remarks: [], ...METHODS },
      )
      const blocks: Float32Array[][] = []
      for await (const block of mixture.blocks()) blocks.push(block)
      await mixture.close()
      const planes = [0, 1].map((channel) => concatenate(blocks.map((block) => block[channel]!)))
      assert.deepEqual(planes, expected.planes)
    }
  })
})

test('abandoning a file in the middle does not keep its process from the next one', async () => {
  const path = await save('plain.wav', wavBytes([noise(3, RATE)], RATE))
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  await new SoundProcesses(tmpdir()).use(signal, async (reader) => {
    const mixture = await reader.open(path, NO_LIMITS)
    for await (const _ of mixture.blocks()) break
    await mixture.close()
    assert.equal(await reader.measure(path, SECONDS_MAX), 3)
  })
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})

test("FFmpeg's errors keep their code, and the process serves the next file", async () => {
  const none = await save('none.wav', Buffer.from('no sound'))
  const path = await save('plain.wav', wavBytes([noise(1, RATE)], RATE))
  const processes = new SoundProcesses(tmpdir())
  await assert.rejects(
    processes.use(signal, (reader) => reader.measure(none, SECONDS_MAX)),
    { name: 'ServiceError', code: 'INVALID_MEDIA', message: /The file is text/ },
  )
  assert.equal(await processes.use(signal, (reader) => reader.measure(path, SECONDS_MAX)), 1)
})

test('a file that takes too long is INVALID_MEDIA, and the next one is read', async () => {
  const path = await save('plain.wav', wavBytes([noise(1, RATE)], RATE))
  const hasty = new SoundProcesses(tmpdir(), { ...SOUND_LIMITS, secondsMax: 0 })
  await assert.rejects(
    hasty.use(signal, (reader) => reader.measure(path, SECONDS_MAX)),
    { code: 'INVALID_MEDIA', message: /could not be read: it takes longer than 0 s/ },
  )
})

test('a canceled read ends with the reason, without affecting concurrent and later ones', async () => {
  const path = await save('plain.wav', wavBytes([noise(1, RATE)], RATE))
  const processes = new SoundProcesses(tmpdir())
  const cancel = new AbortController()
  const canceled = processes.use(cancel.signal, async (reader) => {
    const mixture = await reader.open(path, NO_LIMITS)
    cancel.abort(new Error('canceled'))
    try {
      for await (const _ of mixture.blocks());
    } finally {
      await mixture.close()
    }
  })
  const measure = () => processes.use(signal, (reader) => reader.measure(path, SECONDS_MAX))
  const other = measure()
  await assert.rejects(canceled, /canceled/)
  assert.deepEqual([await other, await measure(), await measure()], [1, 1, 1])
  await assert.rejects(
    processes.use(cancel.signal, async () => 1),
    /canceled/,
  )
})

test('processes started for concurrent files serve the next ones; later all but one exit', async () => {
  const before = children()
  const processes = new SoundProcesses(tmpdir(), SOUND_LIMITS, 5_000)
  const path = await save('at-once.wav', wavBytes([noise(0.1, RATE)], RATE))
  const three = () =>
    Promise.all(
      [1, 2, 3].map(() => processes.use(signal, (reader) => reader.measure(path, SECONDS_MAX))),
    )
  const started = () => children().filter((pid) => !before.includes(pid))
  await three()
  const first = started()
  assert.equal(first.length, 3)
  await three()
  assert.deepEqual(started(), first)
  while (started().length > 1) await sleep(50)
  await sleep(100)
  assert.equal(started().length, 1)
})

/** Ids of the child processes of this process that are alive. */
const children = (): string[] =>
  readdirSync('/proc/self/task')
    .flatMap((thread) =>
      whileThere(() => [readFileSync(`/proc/self/task/${thread}/children`, 'utf8')]),
    )
    .flatMap((pids) => pids.split(' ').filter(Boolean))
    .sort()

test('a file too large to be kept while it is measured is still decoded whole', async () => {
  const path = await save('large.wav', wavBytes([noise(100, RATE, 1), noise(100, RATE, 2)], RATE))
  const processes = new SoundProcesses(dirname(path))
  const seconds = await processes.use(signal, async (reader) => {
    assertNear((await reader.measure(path, SECONDS_MAX))!, 100, 1e-6)
    const mixture = await reader.open(path, NO_LIMITS)
    let samples = 0
    for await (const [plane] of mixture.blocks()) samples += plane!.length
    return samples / mixture.sampleRate
  })
  assertNear(seconds, 100, 1e-6)
})

test('a file that was only measured is closed', async () => {
  const path = await save('measured.wav', wavBytes([noise(1, RATE)], RATE))
  const processes = new SoundProcesses(dirname(path))
  await processes.use(signal, (reader) => reader.measure(path, SECONDS_MAX))
  const isOpen = () => children().some((pid) => openFilesOf(pid).includes(path))
  for (let tries = 0; isOpen() && tries < 50; tries++) await sleep(100)
  assert.equal(isOpen(), false)
})

/** Files and processes may disappear while they are listed. */
const openFilesOf = (pid: string): string[] =>
  whileThere(() => readdirSync(`/proc/${pid}/fd`)).flatMap((fd) =>
    whileThere(() => [readlinkSync(`/proc/${pid}/fd/${fd}`)]),
  )

function whileThere(list: () => string[]): string[] {
  try {
    return list()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
