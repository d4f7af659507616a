/** Several files on the page, in a real browser with the real service. */

import assert from 'node:assert/strict'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before, describe, type TestContext } from 'node:test'
import type { Browser, Page, Request } from 'playwright-core'
import { enterKey, fillPrompts, launchBrowser } from '../support/page/browser.ts'
import {
  assertAccessible,
  waitForPlayer,
  separate,
  signedIn,
  untilDrawn,
  type Cases,
  type Place,
} from './playground.ts'
import { examplePath } from '../support/media/examples.ts'
import { noise } from '../support/media/signals.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { wavBytes } from '../support/media/wav.ts'

const lines = (page: Page) => page.getByRole('region', { name: 'Files' }).getByRole('listitem')
const line = (page: Page, path: string) => lines(page).filter({ hasText: path })
const total = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Files' }).getByRole('status').getByText(text, { exact: true })
const formIsThere = (page: Page) =>
  page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()

async function writeSounds(folder: string, names: readonly string[]): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  const paths = names.map((name) => join(folder, name))
  for (const path of paths) await writeFile(path, wavBytes([noise(0.5, 8_000)], 8_000))
  return paths
}

/** Writes songs, two of them with the same name, and what else lies in such folders. */
async function writeAlbum(folder: string): Promise<void> {
  await writeSounds(folder, ['._song 10.wav', 'song 10.wav'])
  await writeSounds(join(folder, 'disc 2'), ['song 10.wav'])
  await copyFile(examplePath('speech-over-piano.wav'), join(folder, 'song 9.wav'))
  for (const name of ['notes.txt', 'cover.jpg', 'project.als', 'broken.flac']) {
    await writeFile(join(folder, name), 'this is no sound')
  }
}

/** Drops files and folders, as from the desktop. */
async function dropPaths(page: Page, paths: string[]): Promise<void> {
  await untilDrawn(page) // then it listens
  const devtools = await page.context().newCDPSession(page)
  const { x, y } = (await page.locator('.drop').boundingBox())!
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    const data = { items: [], files: paths, dragOperationsMask: 1 }
    await devtools.send('Input.dispatchDragEvent', { type, x: x + 20, y: y + 20, data })
  }
}

async function choose(page: Page, paths: string[]): Promise<void> {
  await page.getByLabel('Choose files').setInputFiles(paths)
  await page.getByLabel('Prompt 1').fill('noise')
}

interface SavedFile {
  path: string
  bytes: number
}

/** Saves into the browser's own file system, because a test can't use the system's folder dialog. */
const saveIntoBrowser = (page: Page) =>
  page.evaluate(() => {
    Object.assign(globalThis, {
      showDirectoryPicker() {
        return navigator.storage.getDirectory()
      },
    })
  })

interface Folder {
  entries(): AsyncIterable<[string, FileSystemDirectoryHandle | FileSystemFileHandle]>
}

const savedFiles = (page: Page) =>
  page.evaluate(async () => {
    const saved: SavedFile[] = []
    const folders = [{ path: '', folder: await navigator.storage.getDirectory() }]
    for (const { path, folder } of folders) {
      for await (const [name, handle] of (folder as unknown as Folder).entries()) {
        if (handle instanceof FileSystemDirectoryHandle) {
          folders.push({ path: `${path}${name}/`, folder: handle })
        } else saved.push({ path: path + name, bytes: (await handle.getFile()).size })
      }
    }
    return saved.sort((one, other) => (one.path < other.path ? -1 : 1))
  })

async function aFolder(place: Place): Promise<void> {
  const folder = join(place.winnow.folder, 'album')
  await writeAlbum(folder)
  const page = await signedIn(place)
  await dropPaths(page, [folder])
  await page.getByText(/^4 files, 0\.5 MB; 4 more are no audio or video and left out/).waitFor()
  await fillPrompts(page, 'piano', 'speech')
  await page.getByText('Options').click()
  await page.getByLabel('Format').selectOption('flac')
  await assertAccessible(page, 'several files')
  await page.getByLabel('let others go first').check()
  const inputs: object[] = []
  const priorities: unknown[] = []
  page.on('request', (request: Request) => {
    if (!request.url().endsWith('/audio/separate')) return
    const body = request.postDataJSON() as { input: object; priority?: string }
    inputs.push(body.input)
    priorities.push(body.priority)
  })
  await separate(page)
  await total(page, '3 of 4 separated, 1 failed').waitFor()
  assert.deepEqual(
    await lines(page).locator('strong').allInnerTexts(),
    ['broken.flac', 'disc 2/song 10.wav', 'song 9.wav', 'song 10.wav'].map(
      (name) => `album/${name}`,
    ),
  )
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'files')
  for (const { file_id: _of, ...input } of inputs as { file_id: string }[]) {
    assert.deepEqual(input, { prompts: ['piano', 'speech'], output_format: 'flac', preview: true })
  }
  assert.deepEqual(priorities, Array(4).fill('batch'))
  await line(page, 'broken.flac')
    .getByText(/^INVALID_MEDIA: /)
    .waitFor()
  await assertAccessible(page, 'files that have ended')

  await listenAndReturn(page)
  await saveAll(page, place)
}

async function renamed(page: Page, given: string, name: string): Promise<void> {
  page.once('dialog', (dialog) => void dialog.accept(given))
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  await page.getByRole('heading', { name }).waitFor()
}

/** Opens a line in the player with its own source, and again after a reload. */
async function listenAndReturn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Listen to album/song 9.wav' }).click()
  await waitForPlayer(page)
  await page.getByRole('heading', { name: 'song 9.wav' }).waitFor()
  await renamed(page, 'song nine', 'song nine.wav')
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await page.getByRole('button', { name: 'Listen to album/song nine.wav' }).click()
  await renamed(page, 'song 9', 'song 9.wav')
  await waitForPlayer(page)
  assert.equal(await page.getByRole('button', { name: 'Null test' }).isEnabled(), true)
  await page.reload()
  await waitForPlayer(page)
  assert.equal(await page.getByRole('button', { name: 'Null test' }).isEnabled(), true)
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await total(page, '3 of 4 separated, 1 failed').waitFor()
  await line(page, 'broken.flac')
    .getByText(/^INVALID_MEDIA: /)
    .waitFor()
}

/** Saves everything into a folder, twice: the second time under free names. */
async function saveAll(page: Page, { winnow }: Place): Promise<void> {
  await saveIntoBrowser(page)
  await page.getByRole('button', { name: 'Save all into a folder' }).click()
  await page.getByText('9 files are saved.').waitFor()
  const once = ['song 10', 'song 9', 'disc 2/song 10'].flatMap((song) =>
    ['piano', 'speech', 'rest.without-piano+speech'].map((label) => `album/${song}.${label}`),
  )
  const saved = await savedFiles(page)
  const flacs = once.map((name) => `${name}.flac`).sort()
  assert.deepEqual(
    saved.map(({ path }) => path),
    flacs,
  )

  const { data: listed } = await winnow.client.list()
  const song = listed.find(({ file_name: name }) => name === 'song 9.wav')!
  const { data } = await winnow.client.result(song)
  const piano = await (await winnow.client.open(data.target.url)).arrayBuffer()
  const savedPiano = saved.find(({ path }) => path === 'album/song 9.piano.flac')!
  assert.equal(savedPiano.bytes, piano.byteLength, 'it is whole')

  await page.getByText('9 files are saved.').waitFor()
  await page.getByRole('button', { name: 'Save all into a folder' }).click()
  const again = once.map((name) => `${name} (2).flac`)
  // The browser's temporary file for one being written may be gone before it can be read.
  const countSaved = () =>
    savedFiles(page)
      .then((files) => files.length)
      .catch(() => 0)
  for (let turn = 0; turn < 200 && (await countSaved()) < 18; turn += 1) {
    await page.waitForTimeout(50)
  }
  await page.getByText('9 files are saved.').waitFor()
  const paths = (await savedFiles(page)).map(({ path }) => path)
  assert.deepEqual(paths, [...flacs, ...again].sort())
  await page.getByRole('button', { name: 'Close the list' }).click()
  await page.getByRole('region', { name: 'Files' }).waitFor({ state: 'detached' })
  await page.reload()
  await formIsThere(page)
  assert.equal(await lines(page).count(), 0)
}

/** Chooses a folder with its button; a folder with one sound acts like that file. */
async function chosenFolder(place: Place): Promise<void> {
  const folder = join(place.winnow.folder, 'folders')
  await writeSounds(join(folder, 'two'), ['a.wav', 'b.wav'])
  await writeSounds(join(folder, 'one'), ['only.wav'])
  await mkdir(join(folder, 'none'))
  for (const name of ['one', 'none']) await writeFile(join(folder, name, 'notes.txt'), 'no sound')
  await writeFile(join(folder, 'none/more.txt'), 'no sound')
  const page = await signedIn(place)
  const input = page.getByLabel('Choose a folder')
  await input.setInputFiles(join(folder, 'two'))
  await page.getByText('2 files, 17 kB').waitFor()
  await input.setInputFiles(join(folder, 'one'))
  await page.getByText('only.wav, 9 kB').waitFor()
  await input.setInputFiles(join(folder, 'none'))
  await page.getByText('None of 2 files is audio or video.').waitFor()
  await dropPaths(page, [join(folder, 'two'), join(folder, 'one')])
  await page.getByText('3 files, 25 kB; 1 more are').waitFor()
}

/** Chooses more files than the page takes, at once and one after another. */
async function tooMany(place: Place): Promise<void> {
  const folder = join(place.winnow.folder, 'many')
  const names = Array.from({ length: 101 }, (_, i) => `${i}.wav`)
  const paths = await writeSounds(folder, names)
  const page = await signedIn(place)
  await choose(page, paths)
  await page.getByText(/^These are 101 files of audio or video, and the page takes 100/).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Separate', exact: true }).isDisabled(), true)
  await page.route('**/v1/files', () => new Promise(() => {})) // no file is ever sent
  await choose(page, paths.slice(0, 60))
  await separate(page)
  await total(page, '0 of 60 separated').waitFor()
  await choose(page, paths.slice(0, 41))
  await separate(page)
  await page
    .getByText('The list holds at most 100 files; this would make 101. Close it first.')
    .waitFor()
  assert.equal(await lines(page).count(), 60)
}

async function cancelAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Cancel all files' }).click()
  await page.getByRole('button', { name: 'Really Cancel all files' }).click()
}

/** Cancels without an engine, so that requests stay in the queue until then. */
async function cancels(place: Place): Promise<void> {
  const paths = await writeSounds(join(place.winnow.folder, 'cancel'), ['a.wav', 'b.wav', 'c.wav'])
  const page = await signedIn(place)
  await choose(page, paths)
  await separate(page)
  for (const name of ['a.wav', 'b.wav', 'c.wav'])
    await line(page, name).getByText('in the queue').waitFor()
  await assertAccessible(page, 'files under way')
  await page.getByRole('button', { name: 'Cancel b.wav' }).click()
  await total(page, '0 of 3 separated, 1 canceled').waitFor()
  await page.getByRole('button', { name: 'Cancel all files' }).click()
  await (await page.waitForRequest('**/v1/queue/requests?**')).response() // a later call
  assert.equal(await total(page, '0 of 3 separated, 1 canceled').count(), 1, 'it asks')
  await page.getByRole('button', { name: 'Really Cancel all files' }).click()
  await total(page, '0 of 3 separated, 3 canceled').waitFor()
  const { data } = await place.winnow.client.list({ limit: 3 })
  assert.deepEqual(
    data.map(({ error }) => error?.code),
    ['CANCELED', 'CANCELED', 'CANCELED'],
  )
}

/** After a reload, submitted files continue, and the page names those that were not submitted. */
async function reloads(place: Place): Promise<void> {
  const names = ['1.wav', '2.wav', '3.wav', '4.wav', '5.wav', '6.wav']
  const paths = await writeSounds(join(place.winnow.folder, 'reload'), names)
  const page = await signedIn(place)
  let uploads = 0
  await page.route('**/media/inputs/**', (route) => {
    uploads += 1
    if (uploads <= 2) void route.continue() // the other uploads hang
  })
  await choose(page, paths)
  await separate(page)
  await page.waitForFunction(
    () =>
      document.querySelectorAll('.files li').length === 6 &&
      [...document.querySelectorAll('.files li')].filter((row) => /queue/.test(row.textContent))
        .length === 2,
  )
  await page.getByRole('button', { name: 'Cancel 6.wav' }).click() // it is still waiting
  const dialogShown = page.waitForEvent('dialog')
  const reloading = page.reload()
  const dialog = await dialogShown
  assert.equal(dialog.type(), 'beforeunload')
  await dialog.accept()
  await reloading
  await total(page, '0 of 6 separated, 3 failed, 1 canceled').waitFor()
  const notSent = lines(page).getByText('was reloaded before this file was sent')
  const queued = lines(page).getByText('in the queue') // each line learns it from its own call
  for (const [texts, count] of [
    [notSent, 3],
    [queued, 2],
  ] as const) {
    await texts.nth(count - 1).waitFor()
    assert.equal(await texts.count(), count)
  }
  const cancel = page.getByRole('button', { name: /^Cancel [1-6]/ })
  await cancel.first().click()
  await total(page, '0 of 6 separated, 3 failed, 2 canceled').waitFor()
  await page.reload() // nothing would be lost, so the page does not ask
  await total(page, '0 of 6 separated, 3 failed, 2 canceled').waitFor()

  const caches = () => page.evaluate(() => globalThis.caches.keys())
  await page.evaluate(() => globalThis.caches.open('winnow-sources')) // as a single request does
  await page.getByRole('button', { name: 'Sign out' }).click()
  await enterKey(page, API_KEY)
  await formIsThere(page)
  assert.deepEqual(await caches(), [], 'media are of who was signed in')
  assert.equal(await lines(page).count(), 0, 'it is of who was signed in')
  const { data } = await place.winnow.client.list({ limit: 2 })
  assert.deepEqual(data.map(({ status }) => status).sort(), ['FAILED', 'IN_QUEUE'], 'it goes on')
  await place.winnow.client.cancel(data.find(({ status }) => status === 'IN_QUEUE')!)
}

/** A session that ends pauses the uploads; they continue after signing in again. */
async function sessionEnds(place: Place): Promise<void> {
  const names = ['a.wav', 'b.wav', 'c.wav', 'd.wav', 'e.wav']
  const paths = await writeSounds(join(place.winnow.folder, 'session'), names)
  const page = await signedIn(place)
  await choose(page, paths)
  await page.context().clearCookies()
  await separate(page)
  await page.getByText(/Sign in again/).waitFor()
  await enterKey(page, API_KEY)
  const again = page.getByRole('alert').getByText('Uploads are paused.')
  await again.waitFor()
  await lines(page).getByText('waiting').nth(4).waitFor() // the other uploads are refused later
  await assertAccessible(page, 'files that wait for a word')
  await page.getByRole('button', { name: 'Resume' }).click()
  for (const name of names) await line(page, name).getByText('in the queue').waitFor()
  assert.equal(await again.count(), 0)
  await cancelAll(page)
  await total(page, '0 of 5 separated, 5 canceled').waitFor()
}

/** When the account's queue is full, the page retries when the service says. */
async function fullQueue(place: Place): Promise<void> {
  const { winnow } = place
  await winnow.gateway.end('SIGTERM')
  await winnow.startGateway({ QUEUE_MAX_PER_ACCOUNT: '2' })
  const names = ['1.wav', '2.wav', '3.wav', '4.wav']
  const paths = await writeSounds(join(winnow.folder, 'full'), names)
  const page = await signedIn(place)
  let refusals = 0
  await page.route('**/audio/separate', async (route) => {
    const reply = await route.fetch()
    if (reply.status() !== 429) return route.fulfill({ response: reply })
    refusals += 1
    assert.equal(reply.headers()['retry-after'], '30')
    return route.fulfill({ response: reply, headers: { ...reply.headers(), 'retry-after': '1' } })
  })
  await choose(page, paths)
  await separate(page)
  await lines(page).getByText('your account has 2 requests waiting').nth(1).waitFor()
  await lines(page).getByText('in the queue').nth(1).waitFor()
  assert.equal(await total(page, '0 of 4 separated').count(), 1, 'none has failed')
  await lines(page)
    .filter({ hasText: 'in the queue' })
    .getByRole('button', { name: /^Cancel/ })
    .first()
    .click()
  await lines(page).filter({ hasText: 'canceled' }).waitFor()
  while ((await lines(page).getByText('your account has').count()) > 1)
    await page.waitForTimeout(50)
  await lines(page).getByText('in the queue').nth(1).waitFor()
  assert.ok(refusals >= 2)
  await cancelAll(page)
  await total(page, '0 of 4 separated, 4 canceled').waitFor()
}

/** A file that is gone fails alone, and a file of a type unknown to browsers is sent. */
async function oddFiles(place: Place): Promise<void> {
  const names = ['gone.wav', 'here.wav']
  const paths = await writeSounds(join(place.winnow.folder, 'odd'), names)
  const page = await signedIn(place)
  await choose(page, paths)
  await rm(paths[0]!)
  const created: string[] = []
  page.on('request', (request: Request) => {
    if (!request.url().endsWith('/v1/files')) return
    created.push((request.postDataJSON() as { content_type: string }).content_type)
  })
  await separate(page)
  await total(page, '0 of 2 separated, 1 failed').waitFor()
  const buffer = wavBytes([noise(0.5, 8_000)], 8_000)
  const rare = ['rare.wv', 'rare.caf'].map((name) => ({ name, mimeType: 'x/unknown', buffer }))
  await page.getByLabel('Choose files').setInputFiles(rare)
  await separate(page)
  for (const name of ['here.wav', 'rare.wv', 'rare.caf'])
    await line(page, name).getByText('in the queue').waitFor()
  assert.deepEqual(created.sort(), ['audio/wav', 'audio/x-caf', 'audio/x-wavpack'])
  await cancelAll(page)
  await total(page, '0 of 4 separated, 1 failed, 3 canceled').waitFor()
}

let winnow: Winnow
let browser: Browser
before(async (t) => {
  const context = t as TestContext
  browser = await launchBrowser(context)
  winnow = await startWinnow(context)
})

const CASES: Cases = {
  'a folder becomes a list of requests, which can be played and saved': aFolder,
  'a chosen folder': chosenFolder,
  'too many files show a message': tooMany,
}
for (const [name, run] of Object.entries(CASES)) test(name, (t) => run({ t, winnow, browser }))

describe('without an engine', () => {
  before(() => winnow.engines[0]!.end('SIGTERM'))
  const cases: Cases = {
    'one file is canceled, then all': cancels,
    'the list continues after a reload, and is gone after signing out': reloads,
    'a session that ends pauses the uploads until the next sign-in': sessionEnds,
    'a file that is gone fails alone, and one of a rare type is sent': oddFiles,
    'files wait while the queue of the account is full': fullQueue,
  }
  for (const [name, run] of Object.entries(cases)) test(name, (t) => run({ t, winnow, browser }))
})
