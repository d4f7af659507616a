/**
 * Fetches open models from a host, and imports, lists and removes them, with real but tiny
 * checkpoints.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { CATALOGUE, type CatalogueEntry } from '../../../../engine/installing/catalogue.ts'
import { fetchModel } from '../../../../engine/installing/install.ts'
import { model } from '../../../../scripts/cli/model/command.ts'
import { openSafetensors } from '../../../../models/checkpoint/safetensors.ts'
import { openAudioSepCheckpoint } from '../../../../models/audiosep/checkpoint.ts'
import { openHTDemucsCheckpoint } from '../../../../models/htdemucs/checkpoint.ts'
import { openRoformerCheckpoint } from '../../../../models/roformer/checkpoint.ts'
import { readRoformerConfig } from '../../../../models/roformer/config.ts'
import { openScnetCheckpoint } from '../../../../models/scnet/checkpoint.ts'
import { readScnetConfig } from '../../../../models/scnet/config.ts'
import { readRecord } from '../../../../models/installed/record.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { fixtureFolder } from '../../../support/models/open-model.ts'
import {
  TINY_CHECKPOINT as DEMUCS,
  TINY_FILE as FILE,
  TINY_SHA256 as SHA256,
  startModelHost,
} from '../../../support/engine/model-host.ts'
import { runCommand } from '../../../support/processes/run-command.ts'
import { mountSmallDisk, whyNoSmallDisk } from '../../../support/machine/small-disk.ts'

const DEMUCS_2 = join(fixtureFolder('htdemucs'), 'model/0000041f-c4a403b6.th')
const AUDIOSEP = join(fixtureFolder('audiosep'), 'model')

const root = temporaryFolder({ after })

let folders = 0
const emptyFolder = () => join(root, `models-${(folders += 1)}`)

const run = (folder: string, words: string[], catalogue?: readonly CatalogueEntry[]) =>
  runCommand(model, words, {
    env: { MODELS_DIR: folder },
    retryDelaysMs: [0, 0],
    ...(catalogue && { catalogue }),
  })

/** Imports a model, and returns its record. */
async function importModel(folder: string, name: string, files: readonly string[]) {
  const { code, errors } = await run(folder, ['import', ...files, '--name', name])
  assert.equal(code, 0, errors)
  return readRecord(join(folder, name))
}

/** Fails unless importing these files is refused. */
async function assertRefused(folder: string, files: readonly string[], message: RegExp) {
  const { code, errors } = await run(folder, ['import', ...files, '--name', 'refused'])
  assert.equal(code, 1)
  assert.match(errors, message)
}

test('a checkpoint of HTDemucs is imported with all its tensors, to the last bit', async () => {
  const folder = emptyFolder()
  const { code, text, errors } = await run(folder, ['import', DEMUCS, '--name', 'tiny'])
  assert.equal(code, 0, errors)
  assert.match(
    text,
    /^Installed tiny in .*\nNo checksum .*-feeb7c97\.th\. Here .* feeb7c97.*\.\nThe next start .*model.* load tiny\n$/,
  )
  assert.equal(statSync(join(folder, 'tiny')).mode & 0o777, 0o755) // engines may run as other users
  const record = readRecord(join(folder, 'tiny'))
  assert.ok(record.kind === 'htdemucs')
  const [{ file, kwargs, stems }] = record.networks as [(typeof record.networks)[0]]
  assert.deepEqual(stems, ['drums', 'bass', 'other', 'vocals'])
  const published = openHTDemucsCheckpoint(DEMUCS)
  assert.deepEqual(kwargs, published.kwargs)
  assertSameTensors(join(folder, 'tiny', file), published.tensors)
  const digest = createHash('sha256').update(readFileSync(DEMUCS)).digest('hex')
  assert.equal(record.sources[0]!.sha256, digest)
})

test('each network of a bag keeps the stem that it gives', async () => {
  const folder = emptyFolder()
  const files = [DEMUCS, DEMUCS_2]
  await assertRefused(folder, files, /2 networks need the stem that each gives: --stems/)
  const wrong = /0000041f-c4a403b6\.th: gives drums, .* and no flute/
  await assertRefused(folder, [...files, '--stems', 'drums,flute'], wrong)
  assert.deepEqual(readdirSync(folder), []) // leaves nothing half done
  const record = await importModel(folder, 'bag', [...files, '--stems', 'drums,vocals'])
  assert.ok(record.kind === 'htdemucs')
  assert.deepEqual(
    record.networks.map(({ stems }) => stems),
    [['drums'], ['vocals']],
  )
})

const textConfig = join(root, 'config.json')
writeFileSync(textConfig, JSON.stringify({ num_attention_heads: 4 }))

test('only the used tensors of an AudioSep checkpoint are kept, and the rate is read', async () => {
  const folder = emptyFolder()
  const names = ['audiosep_tiny.ckpt', 'config.yaml', 'tokenizer.json', 'tokenizer_config.json']
  const files = [...names.map((name) => join(AUDIOSEP, name)), textConfig]
  const record = await importModel(folder, 'tiny', files)
  assert.ok(record.kind === 'audiosep')
  assert.deepEqual([record.sampleRate, record.textHeads], [4000, 4])
  const all = openAudioSepCheckpoint(files[0]!)
  const tensors = openSafetensors(join(folder, 'tiny', record.file))
  assertSameTensors(join(folder, 'tiny', record.file), all)
  const dropped = [...all.keys()].filter((name) => !tensors.has(name))
  assert.ok(dropped.includes('ss_model.base.stft.conv_real.weight'))
  const unused = /stft|bn2|beta2|num_batches|position_ids|audio_|logit_scale|text_tr/
  assert.ok(dropped.every((name) => unused.test(name)))
  for (const missing of ['config.yaml', 'tokenizer.json']) {
    const others = files.filter((file) => !file.endsWith(`/${missing}`))
    await assertRefused(folder, others, /audiosep_tiny\.ckpt: needs its (configuration|tokenizer)/)
  }
})

test('checkpoints of RoFormer and SCNet are imported with their configuration', async () => {
  const folder = emptyFolder()
  for (const kind of ['bs', 'mel']) {
    const file = join(fixtureFolder('roformer'), `model-${kind}/${kind}_tiny`)
    const record = await importModel(folder, kind, [`${file}.ckpt`, `${file}.yaml`])
    assert.ok(record.kind === 'roformer')
    assert.equal(readRoformerConfig(record.configuration).kind, kind)
    assertSameTensors(join(folder, kind, record.file), openRoformerCheckpoint(`${file}.ckpt`))
    await assertRefused(folder, [`${file}.ckpt`], /_tiny\.ckpt: needs its configuration \(\.yaml\)/)
  }
  const file = join(fixtureFolder('scnet'), 'model/scnet_tiny')
  const record = await importModel(folder, 'scnet', [`${file}.ckpt`, `${file}.yaml`])
  assert.ok(record.kind === 'scnet')
  assert.equal(readScnetConfig(record.configuration).chunkSamples, 4000)
  assertSameTensors(join(folder, 'scnet', record.file), openScnetCheckpoint(`${file}.ckpt`))
  await assertRefused(folder, [`${file}.ckpt`], /_tiny\.ckpt: needs its configuration \(\.yaml\)/)
  const other = join(root, 'other.yaml')
  writeFileSync(
    other,
    readFileSync(`${file}.yaml`, 'utf8').replace('num_dplayer: 4', 'num_dplayer: 2'),
  )
  const unread = /scnet_tiny\.ckpt: \d+ weights were not read: separation_net\./
  await assertRefused(folder, [`${file}.ckpt`, other], unread)
})

function assertSameTensors(file: string, published: ReturnType<typeof openAudioSepCheckpoint>) {
  for (const [name, { shape, values }] of openSafetensors(file)) {
    assert.deepEqual(shape, [...published.get(name)!.shape])
    assert.deepEqual(Array.from(values()), Array.from(published.get(name)!.values()), name)
  }
}

test('a file that is not a checkpoint, or lacks tensors, is refused by name', async () => {
  const folder = emptyFolder()
  const page = join(root, 'page.th')
  writeFileSync(page, '<html>sign in</html>')
  await assertRefused(folder, [page], /page\.th: .*(zip|archive)/)
  assert.match((await run(folder, ['import', page])).errors, /page\.th is not known here: .*--name/)
  assert.match(
    (await run(folder, ['import', DEMUCS, '--name', '../escape'])).errors,
    /"\.\.\/escape" can't be the name of a model/,
  )
  assert.deepEqual(readdirSync(folder), [])
})

const fetchTiny = (folder: string, entry: CatalogueEntry) =>
  run(folder, ['fetch', 'tiny', '--accept'], [entry])

test('a model is fetched once its licence is accepted, checked and installed', async (t) => {
  const { entry, requests } = await startModelHost(t)
  const folder = emptyFolder()
  const unaccepted = await run(folder, ['fetch', 'tiny'], [entry])
  assert.equal(unaccepted.code, 1)
  assert.match(unaccepted.errors, /weights {2}For this test only\.\nNothing was downloaded/)
  assert.equal(requests.length, 0)
  const { code, text, errors } = await fetchTiny(folder, entry)
  assert.equal(code, 0, errors)
  assert.match(text, /^Installed tiny in /)
  assert.doesNotMatch(text, /No checksum/)
  const record = readRecord(join(folder, 'tiny'))
  assert.deepEqual(record.sources, [
    {
      file: '000003bb-feeb7c97.th',
      url: entry.files[0]!.url,
      sha256: SHA256,
      bytes: FILE.length,
      verified: true,
    },
  ])
  assert.equal(record.licence, 'For this test only.')
  assert.equal(existsSync(join(folder, '.downloads/tiny')), false)
})

/** A model without a published checksum, whose host has another file after `change`. */
async function startUnverified(t: TestContext) {
  let hasChanged = false
  const { entry } = await startModelHost(t, (_, response) => {
    if (!hasChanged) return false
    response.writeHead(200, { 'content-length': FILE.length })
    response.end(Buffer.alloc(FILE.length))
    return true
  })
  const unknown = { ...entry, files: entry.files.map(({ name, url }) => ({ name, url })) }
  return { unknown, change: (to = true) => void (hasChanged = to) }
}

const IS_ANOTHER = RegExp(`its SHA-256 is .{64}, and was ${SHA256} when tiny was first`)

test('a file of which no checksum is published must be what it was when it first came', async (t) => {
  const { unknown, change } = await startUnverified(t)
  const folder = emptyFolder()
  const first = await fetchTiny(folder, unknown)
  assert.ok(
    first.text.includes(
      `No checksum is published of 000003bb-feeb7c97.th. Here its SHA-256 is ${SHA256}.`,
    ),
  )
  await run(folder, ['remove', 'tiny'])
  change()
  const changed = await fetchTiny(folder, unknown)
  assert.equal(changed.code, 1)
  assert.match(changed.errors, IS_ANOTHER)
  assert.equal(existsSync(join(folder, 'tiny')), false)
  change(false)
  assert.equal((await fetchTiny(folder, unknown)).code, 0)
})

test('what first came is known if its install broke off, but not if it was no model', async (t) => {
  const { unknown, change } = await startUnverified(t)
  const folder = emptyFolder()
  change()
  assert.equal((await fetchTiny(folder, unknown)).code, 1)
  rmSync(join(folder, '.downloads'), { recursive: true })
  change(false)
  const takeName = () => void mkdirSync(join(folder, 'tiny/taken'), { recursive: true })
  const broken = fetchModel(folder, unknown, { onConvert: takeName, onProgress() {} })
  await assert.rejects(broken, /ENOTEMPTY/)
  for (const left of ['tiny', '.downloads']) rmSync(join(folder, left), { recursive: true })
  change()
  assert.match((await fetchTiny(folder, unknown)).errors, IS_ANOTHER)
})

test('a model that an earlier version installed has its checksums kept when it is removed', async (t) => {
  const { unknown, change } = await startUnverified(t)
  const folder = emptyFolder()
  await fetchTiny(folder, unknown)
  rmSync(join(folder, '.first-seen-tiny.json'))
  assert.equal((await run(folder, ['remove', 'tiny'])).text, 'Removed tiny.\n')
  assert.deepEqual(readdirSync(folder).sort(), ['.downloads', '.first-seen-tiny.json'])
  change()
  assert.match((await fetchTiny(folder, unknown)).errors, IS_ANOTHER)
  await run(folder, ['import', DEMUCS, '--name', 'tiny'])
  writeFileSync(join(folder, 'tiny/model.json'), '{"format": 1, "kind": "bandit"}')
  assert.equal((await run(folder, ['remove', 'tiny'])).text, 'Removed tiny.\n', 'unknown here')
})

test('nobody is asked about a licence that allows any use, which is shown with its source', async (t) => {
  const { entry } = await startModelHost(t)
  const folder = emptyFolder()
  const { code, errors } = await run(folder, ['fetch', 'tiny'], [{ ...entry, isFreeToUse: true }])
  assert.equal(code, 0, errors)
  assert.match(errors, /weights {2}For this test only\.\n/)
  const free = CATALOGUE.filter(({ isFreeToUse }) => isFreeToUse)
  assert.deepEqual(
    free.map(({ name, files }) => [name, files[0]!.sha256!.length]),
    [
      ['scnet', 64],
      ['scnet-large', 64],
    ],
  )
  for (const { licence } of free) assert.match(licence.weights, /^MIT, .* issue 35, 17 July 2026/)
})

/** Sends part of the file, then cuts the connection. */
function cutAfter(bytes: number, response: ServerResponse): true {
  response.writeHead(200, { etag: '"one"', 'content-length': FILE.length })
  response.write(FILE.subarray(0, bytes), () => response.destroy())
  return true
}

test('an interrupted download resumes where it ended, in the same call and in the next', async (t) => {
  const { entry, requests } = await startModelHost(t, (_, response, count) =>
    count <= 3 ? cutAfter(100_000 * count, response) : false,
  )
  const folder = emptyFolder()
  const failed = await fetchTiny(folder, entry) // three attempts, all of them cut
  assert.equal(failed.code, 1)
  assert.match(failed.errors, /http:\/\/127\.0\.0\.1:\d+\/a: /)
  assert.equal((await fetchTiny(folder, entry)).code, 0)
  const last = requests.at(-1)!
  assert.match(last.headers.range ?? '', /^bytes=[1-9]\d*-$/)
  assert.equal(last.headers['if-range'], '"one"')
  assert.equal(readRecord(join(folder, 'tiny')).sources[0]!.sha256, SHA256)
})

test('a file that has changed is fetched again from the start', async (t) => {
  const { entry } = await startModelHost(t, (_, response, count) => {
    if (count > 1) return false
    response.writeHead(200, { etag: '"zero"', 'content-length': FILE.length })
    response.write(Buffer.alloc(50_000), () => response.destroy())
    return true
  })
  const folder = emptyFolder()
  assert.equal((await fetchTiny(folder, entry)).code, 0)
  assert.equal(readRecord(join(folder, 'tiny')).sources[0]!.sha256, SHA256)
})

test('whatever a host sends in place of the file is reported, and nothing is installed', async (t) => {
  const answers: [(response: ServerResponse) => unknown, RegExp][] = [
    [
      (response) => response.setHeader('content-type', 'text/html').end('<html>'),
      /returned a web page instead of the file/,
    ],
    [
      (response) => response.end(Buffer.alloc(FILE.length)),
      /its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64};/,
    ],
    [(response) => response.writeHead(404).end(), /the file is no longer there/],
    [(response) => response.writeHead(403).end(), /refuses it \(status 403\)/],
    [(response) => response.writeHead(503).end(), /returned status 503/],
    [
      (response) => response.writeHead(200, { 'content-length': 9e9 }).end(),
      /9000000000 bytes: too/,
    ],
  ]
  for (const [answer, message] of answers) {
    const { entry } = await startModelHost(t, (_, response) => {
      answer(response)
      return true
    })
    const folder = emptyFolder()
    const { code, errors } = await fetchTiny(folder, entry)
    assert.equal(code, 1)
    assert.match(errors, message)
    assert.equal(existsSync(join(folder, 'tiny')), false)
  }
})

test(
  'a full disk is reported, received bytes stay, and the next call resumes',
  { skip: whyNoSmallDisk() ?? false },
  async (t) => {
    const disk = await mountSmallDisk(t, 4)
    const folder = join(disk.folder, 'models')
    const { entry } = await startModelHost(t, (_, response, count) => {
      if (count > 1) return false
      response.writeHead(200, { etag: '"one"', 'content-length': FILE.length })
      response.write(FILE.subarray(0, 100_000), () => void fillAndEnd(response))
      return true
    })
    const fillAndEnd = async (response: ServerResponse) => {
      await disk.fill()
      response.end(FILE.subarray(100_000))
    }
    const full = await fetchTiny(folder, entry)
    assert.equal(full.code, 1)
    assert.match(full.errors, /the disk is full; free some/)
    await disk.free()
    assert.equal((await fetchTiny(folder, entry)).code, 0)
    await disk.fill()
    const { errors } = await run(
      folder,
      ['fetch', 'more', '--accept'],
      [{ ...entry, name: 'more' }],
    )
    assert.match(errors, /more needs 2 MB of free disk space; 0 are free/)
  },
)

test('a wrong command line is refused with what would be right', async () => {
  for (const words of [
    [],
    ['nonsense'],
    ['fetch'],
    ['fetch', 'nonsense'],
    ['list', 'x'],
    ['import'],
  ]) {
    const { code, errors } = await run(emptyFolder(), words)
    assert.equal(code, 2, words.join(' '))
    assert.match(errors, /Usage: npm run model/)
  }
})

test('the list has a line per model with its licence: built-in, installed, then the others', async () => {
  const folder = emptyFolder()
  for (const name of ['htdemucs', 'mine']) await importModel(folder, name, [DEMUCS])
  const { text } = await run(folder, ['list'])
  const [models = '', hint] = text.split('\n\n')
  const rows = models.split('\n').map((line) => line.split(/ {2,}/))
  const states = rows.map(([, state = '']) => state.replace(/^\d+ MB$/, 'to fetch'))
  assert.deepEqual([...new Set(states)], ['built in', 'installed', 'to fetch'])
  assert.deepEqual(rows[0]!.slice(0, 3), ['mini', 'built in', 'Apache-2.0'])
  const rowOf = (name: string) => rows.find(([first]) => first === name)
  assert.deepEqual(rowOf('htdemucs')!.slice(1, 3), ['installed', 'research only'])
  assert.deepEqual(rowOf('mine')!.slice(1, 3), ['installed', 'not stated'])
  assert.ok(rows.every(([, , licence = '']) => licence !== '' && licence.length <= 20))
  assert.match(hint!, /--licences/)
  const listed = JSON.parse((await run(folder, ['list', '--json'])).text)
  assert.equal(listed.find(({ name }: { name: string }) => name === 'htdemucs').installed.format, 1)

  const again = await run(folder, ['import', DEMUCS, '--name', 'htdemucs'])
  assert.match(again.errors, /htdemucs is installed in .*remove it first/)
  for (const name of ['htdemucs', 'mine'])
    assert.equal((await run(folder, ['remove', name])).text, `Removed ${name}.\n`)
  assert.deepEqual(readdirSync(folder), [])
  assert.match((await run(folder, ['remove', 'htdemucs'])).errors, /htdemucs is not installed/)
})

test('--licences says when a model was installed, how fast it is, and which files have no checksum', async () => {
  const folder = emptyFolder()
  await importModel(folder, 'htdemucs', [DEMUCS])
  const { text } = await run(folder, ['list', '--licences'])
  assert.match(text, /^htdemucs {2}\(installed \d{4}-\d\d-\d\d\)$/m)
  assert.match(text, /^ {2}speed {4}a minute of sound takes about \d+ s on two cores$/m)
  const checksumOf = (name: string) =>
    new RegExp(`^${name} .*?^ {2}SHA-256 {2}(.*?)$`, 'ms').exec(text)![1]!
  assert.equal(checksumOf('htdemucs_ft'), 'published of all files')
  assert.equal(checksumOf('audiosep-hive'), 'none is published of config.yaml')
  assert.match(text, /^spleeter {2}\(.*\n {2}Vocals and instrumental/)
  assert.match(text, /MIT, as the paper .* their README says it of "the code"/)
  const fetched = await run(folder, ['fetch', 'spleeter'])
  assert.equal(fetched.code, 2)
  assert.match(fetched.errors, /spleeter comes with Winnow: set-up fetches it/)
})

test('checksums in the catalogue are complete, and files without one are known', () => {
  const files = CATALOGUE.flatMap(({ files }) => files)
  for (const { name, sha256 = '0'.repeat(64) } of files)
    assert.match(sha256, /^[0-9a-f]{64}$/, name)
  assert.deepEqual(
    files.filter(({ sha256 }) => sha256 === undefined).map(({ name }) => name),
    [
      'config_musdb18_scnet.yaml',
      'config_musdb18_scnet_large_starrytong.yaml',
      'config.yaml',
      'audiosep_base_4M_steps.ckpt',
      'audiosep_base.yaml',
    ],
  )
})
