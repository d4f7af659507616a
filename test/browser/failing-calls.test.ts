/** Calls of the page are slow, or fail, in a real browser with the real gateway. */

import assert from 'node:assert/strict'
import test, { before, type TestContext } from 'node:test'
import type { Browser, Page, Request, Route } from 'playwright-core'
import type { RequestList } from '../../clients/typescript/client.ts'
import { ADMIN_TOKEN } from '../support/gateway/admin.ts'
import { FILE_BYTES } from '../support/gateway/start-gateway.ts'
import { examplePath } from '../support/media/examples.ts'
import { completeWithSound } from '../support/gateway/sounding.ts'
import { newCode } from '../support/gateway/page-session.ts'
import { enterKey, launchBrowser, openPage } from '../support/page/browser.ts'
import { openWithKey, startReachable, type PageGateway } from '../support/page/page-gateway.ts'
import {
  assertAccessible,
  chooseExample,
  drop,
  idOf,
  nextInput,
  planesOf,
  separate,
  SPEECH_OVER_PIANO,
  waitForPlayer,
  untilDrawn,
} from './playground.ts'

const SESSION = '**/playground/session'
const UPLOADS = '**/media/inputs/**'
const POLLS = '**/v1/queue/requests?**'

let browser: Browser
before(async (t) => {
  browser = await launchBrowser(t as TestContext)
})

/** Holds calls of the page from now on; returns a function that lets them go on. */
async function hold(page: Page, calls: string): Promise<() => void> {
  let release = () => {}
  const isReleased = new Promise<void>((resolve) => (release = resolve))
  await page.route(calls, async (route) => {
    await isReleased
    await route.fallback()
  })
  return release
}

/** Holds the reply to the next such call of the page, which the service has served by then. */
async function holdReply(page: Page, calls: string) {
  let [answer, release] = [() => {}, () => {}]
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const isReleased = new Promise<void>((resolve) => (release = resolve))
  await page.route(
    calls,
    async (route) => {
      const response = await route.fetch()
      answer()
      await isReleased
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  return { answered, release }
}

test('what is submitted is what the form said when Separate was pressed', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  const release = await hold(page, UPLOADS)
  const uploading = page.waitForRequest(UPLOADS)
  const input = nextInput<{ prompt: string; side?: string }>(page)
  await separate(page)
  await uploading
  await page.getByRole('button', { name: 'Remove a sound' }).click()
  await page.getByLabel('Prompt 1').fill('speech')
  release()
  const { prompt, side } = await input
  assert.deepEqual([prompt, side], ['piano', undefined])
  await page.getByText('piano', { exact: true }).waitFor()
})

/** Gives the key of this session a new secret, and returns it. */
async function rotateOwnKey(page: Page): Promise<string> {
  const row = page.getByRole('row').filter({ hasText: 'of this session' })
  await row.getByRole('button', { name: /^Rotate/ }).click()
  await row.getByRole('button', { name: /^Really Rotate/ }).click()
  return page.locator('.secret code').innerText()
}

/** Submits two files that the page lists, and a request that it shows; returns the id of that. */
async function listTwoOpenOne(page: Page, { gateway, url }: PageGateway): Promise<string> {
  const names = ['first.wav', 'second.wav']
  const files = names.map((name) => ({ name, mimeType: 'audio/wav', buffer: FILE_BYTES }))
  await page.getByLabel('Choose files').setInputFiles(files)
  await page.getByLabel('Prompt 1').fill('a horn')
  await separate(page)
  await page.getByRole('region', { name: 'Files' }).getByText('in the queue').nth(1).waitFor()
  const id = await gateway.submitted({ prompt: 'a bell' })
  await page.goto(`${url}/#request=${id}`)
  await page.getByText('a bell', { exact: true }).waitFor()
  return id
}

test('a new secret of the key of this session is shown, and what is under way goes on with it', async (t) => {
  const reachable = await startReachable(t)
  const page = await openWithKey(t, browser, reachable)
  await listTwoOpenOne(page, reachable)
  await page.getByRole('button', { name: 'Developers' }).click()
  const release = await hold(page, POLLS)
  await page.waitForRequest(POLLS) // with the old secret
  let tell = (_secret: string) => {}
  const told = new Promise<string>((resolve) => (tell = resolve))
  const answered = (path: string) =>
    page.waitForResponse(async (reply) => {
      if (!reply.url().includes(path)) return false
      return (await reply.request().headerValue('authorization')) === `Bearer ${await told}`
    })
  const answers = Promise.all([answered('/requests?'), answered('/status/stream')])
  const secret = await rotateOwnKey(page)
  reachable.gateway.clock.advance(1_000) // the gateway reads the key of a stream once a second
  tell(secret)
  release()
  const replies = await answers
  assert.deepEqual(
    replies.map((reply) => reply.status()),
    [200, 200],
  )
  assert.equal(await page.locator('.secret code').innerText(), secret)
  await page.getByRole('button', { name: 'Playground' }).click()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByText('Canceled. Nothing was charged.').waitFor()
})

test('what is in a file is told although the key got a new secret meanwhile', async (t) => {
  const reachable = await startReachable(t)
  const { gateway } = reachable
  const page = await openWithKey(t, browser, reachable)
  await chooseExample(page)
  const submitting = page.waitForResponse('**/audio/sounds')
  await page.getByRole('button', { name: 'What is in it?' }).click()
  const { request_id: id } = (await (await submitting).json()) as { request_id: string }
  await page.getByRole('button', { name: 'Developers' }).click()
  await rotateOwnKey(page)
  gateway.clock.advance(1_000)
  await gateway.publish()
  await gateway.event('started', id)
  const sounds = [{ name: 'a dog', spans: [{ start: 0, end: 2 }], share: 0.2, match: 0.9 }]
  await gateway.event('completed', id, { sounds, outputs: undefined as never })
  await page.getByRole('button', { name: 'Playground' }).click()
  await page.getByRole('group', { name: 'Sounds in this file' }).getByText('a dog').waitFor()
})

test('a late refusal of the secret before signs nobody out', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  const release = await hold(page, POLLS)
  const listing = page.waitForRequest(POLLS)
  await page.reload()
  await listing // with the old secret
  await page.getByRole('button', { name: 'Developers' }).click()
  const secret = await rotateOwnKey(page)
  const refused = page.waitForResponse((reply) => reply.status() === 401)
  release()
  await (await refused).finished()
  await untilDrawn(page)
  assert.equal(await page.locator('.secret code').innerText(), secret)
  await page.getByRole('button', { name: 'Playground' }).click()
  await page.getByText('None. What you separate is listed here.').waitFor()
})

test('a new secret is shown although the old one is refused before it arrives', async (t) => {
  const reachable = await startReachable(t)
  const { gateway } = reachable
  const page = await openWithKey(t, browser, reachable)
  const id = await listTwoOpenOne(page, reachable)
  await page.getByRole('button', { name: 'Developers' }).click()
  const { answered, release } = await holdReply(page, '**/rotate')
  const refused = page.waitForResponse((reply) => reply.status() === 401)
  const isStream = (call: Request) => call.url().includes('/status/stream')
  const streamEnds = Promise.race([
    page.waitForEvent('requestfinished', isStream),
    page.waitForEvent('requestfailed', isStream),
  ])
  const rotating = rotateOwnKey(page)
  await answered
  gateway.clock.advance(1_000)
  await Promise.all([streamEnds, refused.then((reply) => reply.finished())])
  await untilDrawn(page)
  const goesOn = page.waitForResponse(
    (reply) => reply.url().includes('/requests?') && reply.status() === 200,
  )
  release()
  assert.match(await rotating, /^sep_/)
  await goesOn
  await gateway.publish()
  await gateway.event('started', id)
  await page.getByRole('button', { name: 'Playground' }).click()
  await page.getByText('separating').waitFor()
})

test('whoever could not be signed out is told so, and loses nothing', async (t) => {
  const { gateway, url } = await startReachable(t)
  const page = await openPage(t, browser, `${url}/#code=${await newCode(gateway)}`)
  await chooseExample(page)
  await page.evaluate(() => {
    const overHttp2 = { get: () => '' }
    Object.defineProperty(Response.prototype, 'statusText', overHttp2)
  })
  const signOut = page.getByRole('button', { name: 'Sign out' })
  const failures: Record<string, (route: Route) => Promise<void>> = {
    'Not signed out: The service answered with status 503.': (route) =>
      route.fulfill({ status: 503 }),
    'does not answer.': (route) => route.abort(),
  }
  for (const [problem, fail] of Object.entries(failures)) {
    await page.route(SESSION, fail)
    await signOut.click()
    await page.getByRole('alert').getByText(problem).waitFor()
    await page.unroute(SESSION)
  }
  await page.getByText(SPEECH_OVER_PIANO).waitFor()
  await assertAccessible(page, 'a failed sign-out')
  await signOut.click()
  await page.getByLabel('API key').waitFor()
  await page.reload()
  await page.getByLabel('API key').waitFor()
})

test('a tab is signed out although another one has replaced its session', async (t) => {
  const { gateway, url } = await startReachable(t)
  const page = await openPage(t, browser, `${url}/#code=${await newCode(gateway)}`)
  const formIsThere = (tab: Page) =>
    tab.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
  await formIsThere(page)
  const other = await page.context().newPage()
  other.once('dialog', (dialog) => void dialog.accept())
  await other.goto(`${url}/#code=${await newCode(gateway)}`)
  await formIsThere(other)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
})

test('a browser whose cache is slow, or that opens none, shows requests all the same', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await page.evaluate(() => (Cache.prototype.put = () => new Promise(() => {})))
  await separate(page)
  await page.getByRole('heading', { name: SPEECH_OVER_PIANO }).waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByText('Canceled. Nothing was charged.').waitFor()
  await page.getByRole('button', { name: 'New separation' }).click()
  await page.evaluate(() => {
    CacheStorage.prototype.open = () => Promise.reject(new DOMException('no', 'SecurityError'))
  })
  await separate(page)
  await page.getByRole('heading', { name: SPEECH_OVER_PIANO }).waitFor()
  await page.getByRole('button', { name: 'New separation' }).click()
  await page.getByRole('button', { name: 'piano' }).filter({ hasText: 'in the queue' }).click()
  await page.getByRole('heading', { name: SPEECH_OVER_PIANO }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
})

const recordButton = (page: Page) => page.getByRole('button', { name: 'Record', exact: true })
const stopButton = (page: Page) => page.getByRole('button', { name: 'Stop recording' })

test('the microphone is off once the form is left, even if it was allowed only then', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  const goTo = (view: string) => page.getByRole('button', { name: view, exact: true }).click()
  await recordButton(page).waitFor()
  const tracks = await page.evaluateHandle(() => {
    const tracks: MediaStreamTrack[] = []
    const { mediaDevices } = navigator
    const ask = mediaDevices.getUserMedia.bind(mediaDevices)
    mediaDevices.getUserMedia = async (wanted) => {
      await new Promise((resolve) => addEventListener('allow', resolve, { once: true }))
      const stream = await ask(wanted)
      tracks.push(...stream.getTracks())
      return stream
    }
    return tracks
  })
  const allow = () => page.evaluate(() => dispatchEvent(new Event('allow')))
  const untilOff = (count: number) =>
    page.waitForFunction(
      ([tracks, count]) =>
        tracks.length === count && tracks.every(({ readyState }) => readyState === 'ended'),
      [tracks, count] as const,
    )
  await recordButton(page).click()
  await goTo('Developers')
  await allow()
  await untilOff(1)
  await goTo('Playground')
  await recordButton(page).waitFor()
  assert.equal(await page.getByRole('alert').filter({ hasText: /./ }).count(), 0)
  await recordButton(page).click()
  await allow()
  await stopButton(page).waitFor()
  await goTo('Developers')
  await untilOff(2)
})

test('a microphone that is unplugged ends its recording, which is kept', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  await recordButton(page).waitFor()
  await page.evaluate(() => {
    const { prototype } = MediaRecorder
    const start = prototype.start
    prototype.start = function () {
      addEventListener('unplug', () => this.stream.getTracks()[0]!.stop())
      this.addEventListener('stop', () => (document.title = 'unplugged'))
      start.call(this)
    }
  })
  await recordButton(page).click()
  await stopButton(page).waitFor()
  await page.evaluate(() => dispatchEvent(new Event('unplug')))
  await page.waitForFunction(() => document.title === 'unplugged')
  await stopButton(page).click()
  await page.getByText(/recording\.webm/).waitFor()
})

/** Returns a function that waits until the page has read a reply, and gone on with it. */
async function watchReads(page: Page): Promise<() => Promise<unknown>> {
  await page.evaluate(() => {
    const { prototype } = Response
    const read = prototype.blob
    prototype.blob = async function () {
      const bytes = await read.call(this)
      setTimeout(() => (document.body.dataset.state = 'read'))
      return bytes
    }
  })
  return () => page.waitForFunction(() => document.body.dataset.state === 'read')
}

const chooseSong = (page: Page) =>
  page
    .getByLabel('Choose files')
    .setInputFiles({ name: 'song.wav', mimeType: 'audio/wav', buffer: FILE_BYTES })

test('what was chosen last is the source, however long an earlier choice takes to read', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  await page.getByRole('group', { name: 'Examples' }).waitFor()
  await page.evaluate(() => {
    const read = (resolve: (file: File) => void) =>
      addEventListener('read', () => resolve(new File(['RIFF'], 'slow.wav')))
    const slow = { isFile: true, fullPath: '/slow.wav', file: read } as unknown
    DataTransferItem.prototype.webkitGetAsEntry = () => slow as FileSystemEntry
  })
  await drop(page, examplePath(SPEECH_OVER_PIANO), 'slow.wav')
  await chooseSong(page)
  await page.getByText('song.wav, 1 kB').waitFor()
  await page.evaluate(() => dispatchEvent(new Event('read')))
  await page.getByText('song.wav, 1 kB').waitFor()

  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  const release = await hold(page, '**/assets/*.wav')
  const untilRead = await watchReads(page)
  await page.getByRole('button', { name: 'Hear the drums alone' }).click()
  await page.locator('button:disabled', { hasText: 'Hear the drums alone' }).waitFor()
  await chooseSong(page)
  release()
  await untilRead()
  await page.getByText('song.wav, 1 kB').waitFor()
  assert.equal(await page.getByRole('progressbar').count(), 0, 'nothing is sent')
})

test('an example that takes long to read is not sent beside the source before it', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  await chooseSong(page)
  await page.getByLabel('Prompt 1').fill('a horn')
  const releaseExample = await hold(page, '**/assets/*.wav')
  const releaseUpload = await hold(page, UPLOADS)
  const uploads: string[] = []
  page.on('request', (call) => {
    if (call.method() === 'PUT') uploads.push(call.url())
  })
  const untilRead = await watchReads(page)
  await page.getByText('Examples to try').click()
  await page.getByRole('button', { name: 'Hear the drums alone' }).click()
  await separate(page)
  await page.getByRole('progressbar').waitFor()
  releaseExample()
  await untilRead()
  releaseUpload()
  await page.getByRole('heading', { name: 'song.wav' }).waitFor()
  assert.equal(uploads.length, 1)
})

test('an output whose request was left meanwhile is not put into the form', async (t) => {
  const reachable = await startReachable(t)
  const id = await completeWithSound(reachable.gateway)
  const page = await openWithKey(t, browser, reachable)
  await page.goto(`${reachable.url}/#request=${id}`)
  const further = page.getByRole('button', { name: 'Separate further: a bell' })
  await further.waitFor()
  const release = await hold(page, '**/media/outputs/**')
  const untilRead = await watchReads(page)
  await further.click()
  await page.getByRole('button', { name: 'New separation' }).click()
  release()
  await untilRead()
  await page.getByText('Drop audio or video here').waitFor()
})

test('files have the name that a request got before its result arrived', async (t) => {
  const reachable = await startReachable(t)
  const id = await completeWithSound(reachable.gateway)
  const page = await openWithKey(t, browser, reachable)
  const { answered, release } = await holdReply(page, '**/result')
  await page.goto(`${reachable.url}/#request=${id}`)
  await answered
  page.once('dialog', (dialog) => void dialog.accept('tape'))
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  await page.getByRole('heading', { name: 'tape.m4a' }).waitFor()
  release()
  await page.locator('.downloads a[download^="tape."]').first().waitFor()
})

test('a cancel that fails leaves the request as it is, and is tried again while the service is away', async (t) => {
  const reachable = await startReachable(t)
  const id = await reachable.gateway.submitted({ prompt: 'a bell' })
  const page = await openWithKey(t, browser, reachable)
  await page.goto(`${reachable.url}/#request=${id}`)
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
  const answerNext = (reply: Parameters<Route['fulfill']>[0]) =>
    page.route('**/cancel', (route) => route.fulfill(reply), { times: 1 })
  await answerNext({ status: 404, json: { error: { code: 'NOT_FOUND', message: 'No more.' } } })
  await cancel.click()
  await page.getByRole('alert').getByText('Not canceled: No more.').waitFor()
  await page.getByText('in the queue').waitFor()
  await assertAccessible(page, 'a failed cancel')
  await answerNext({ status: 409, json: { error: { code: 'CONFLICT', message: 'It has ended.' } } })
  const refused = page.waitForResponse((reply) => reply.status() === 409)
  await cancel.click()
  await (await refused).finished()
  await untilDrawn(page)
  await page.getByText('in the queue').waitFor()
  assert.equal(await page.getByText('It has ended.').count(), 0)
  await answerNext({ status: 503, headers: { 'retry-after': '0' } })
  await cancel.click()
  await page.getByText('Canceled. Nothing was charged.').waitFor()
})

test('a list says what could not be canceled, cancels what was submitted, and is forgotten once closed', async (t) => {
  const reachable = await startReachable(t)
  const { gateway } = reachable
  const page = await openWithKey(t, browser, reachable)
  const files = page.getByRole('region', { name: 'Files' })
  const start = async (...names: string[]) => {
    const file = { mimeType: 'audio/wav', buffer: FILE_BYTES }
    await page.getByLabel('Choose files').setInputFiles(names.map((name) => ({ ...file, name })))
    await page.getByLabel('Prompt 1').fill('a horn')
    await separate(page)
  }
  const listed = async () =>
    (await gateway.call('GET', '/v1/queue/requests')).json().data as RequestList['data']
  const completeAll = async () => {
    await gateway.publish()
    for (const { request_id: id, status } of await listed())
      if (status === 'IN_QUEUE') await gateway.complete(id)
  }
  const answerNext = (reply: Parameters<Route['fulfill']>[0]) =>
    page.route('**/cancel', (route) => route.fulfill(reply), { times: 1 })

  await start('1.wav', '2.wav')
  await files.getByText('in the queue').nth(1).waitFor()
  await answerNext({ status: 404, json: { error: { code: 'NOT_FOUND', message: 'No more.' } } })
  await page.getByRole('button', { name: 'Cancel 1.wav' }).click()
  const refusal = files.getByRole('alert').getByText('Not canceled: No more.')
  await refusal.waitFor()
  for (let poll = 0; poll < 2; poll += 1) await page.waitForResponse(POLLS)
  await refusal.waitFor()
  await assertAccessible(page, 'a list with a failed cancel')

  await completeAll()
  await page.evaluate(() =>
    Object.assign(globalThis, { showDirectoryPicker: () => navigator.storage.getDirectory() }),
  )
  const save = page.getByRole('button', { name: 'Save all into a folder' })
  await files.getByText('2 of 2 separated').waitFor()
  await save.click()
  await files.getByText('4 files are saved.').waitFor()
  await page.getByRole('button', { name: 'Close the list' }).click()

  const release = await hold(page, '**/audio/separate')
  let submits = 0
  const submitting = page.waitForRequest((call) => {
    if (call.url().endsWith('/audio/separate')) submits += 1
    return submits === 2
  })
  await start('3.wav', '4.wav')
  await submitting
  await page.getByRole('button', { name: 'Cancel 3.wav' }).click()
  await answerNext({ status: 503, headers: { 'retry-after': '0' } })
  release()
  await files.getByText('canceled', { exact: true }).waitFor()
  await files.getByText('in the queue').waitFor()
  assert.equal((await listed()).filter(({ error }) => error?.code === 'CANCELED').length, 1)

  await completeAll()
  await save.waitFor()
  assert.equal(await files.getByText('files are saved').count(), 0)
  await hold(page, '**/media/outputs/**')
  const reading = page.waitForRequest('**/media/outputs/**')
  await save.click()
  await reading
  const isAborted = page.waitForEvent('requestfailed')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await isAborted
})

test('nobody listens to a file that was replaced during its upload', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  await chooseExample(page)
  const release = await hold(page, UPLOADS)
  const uploading = page.waitForRequest(UPLOADS)
  await page.getByRole('button', { name: 'What is in it?' }).click()
  await uploading
  await chooseSong(page)
  release()
  await page.locator('button:enabled', { hasText: 'What is in it?' }).waitFor()
  assert.equal(await page.getByText('Listening to it…').count(), 0)
})

test('a request stays in the address while the service is away', async (t) => {
  const reachable = await startReachable(t)
  const id = await reachable.gateway.submitted({ prompt: 'a bell' })
  const page = await openWithKey(t, browser, reachable)
  const answerNext = (retryAfter: string) =>
    page.route(
      '**/requests?limit=100**',
      (route) => route.fulfill({ status: 503, headers: { 'retry-after': retryAfter } }),
      { times: 1 },
    )
  await answerNext('3600')
  await page.goto(`${reachable.url}/#request=${id}`)
  await page.getByRole('alert').getByText('Service Unavailable').waitFor()
  await answerNext('0')
  assert.equal(idOf(page), id)
  await page.reload()
  await page.getByRole('heading', { name: 'concert.m4a' }).waitFor()
})

test('what the page makes of lanes is what was asked for, however long that takes', async (t) => {
  const reachable = await startReachable(t)
  const id = await completeWithSound(reachable.gateway)
  const page = await openWithKey(t, browser, reachable)
  const away = { status: 503, headers: { 'retry-after': '0' } }
  await page.route('**/result', (route) => route.fulfill(away), { times: 1 })
  await page.goto(`${reachable.url}/#request=${id}`)
  await waitForPlayer(page)

  const strength = page.getByLabel('Strength in percent')
  await strength.fill('50')
  const release = await hold(page, '**/convert*')
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download a bell as WAV' }).click()
  await page.getByText('Making').waitFor()
  await strength.fill('0')
  release()
  const saved = await saving
  assert.match(saved.suggestedFilename(), /strength-50/)
  const [plane] = await planesOf(saved)
  assert.equal(Math.max(...plane!).toFixed(2), '0.75', 'a tone of 0.5, and half of another')

  await page.evaluate(() => {
    const { prototype } = OfflineAudioContext
    const render = prototype.startRendering
    const isAllowed = new Promise((resolve) => addEventListener('render', resolve))
    prototype.startRendering = async function () {
      await isAllowed
      return render.call(this)
    }
  })
  const measure = page.getByRole('button', { name: 'Measure it' })
  await measure.click()
  await page.getByText('Making').waitFor()
  await strength.fill('100')
  await page.evaluate(() => dispatchEvent(new Event('render')))
  await page.locator('button:enabled', { hasText: 'Measure it' }).waitFor()
  assert.equal(await page.getByText('LUFS').count(), 0)
  await measure.click()
  await page.getByText('LUFS').waitFor()

  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
  await page.keyboard.press('End')
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
})

test('a code whose exchange gets no connection is not waited for', async (t) => {
  const { gateway, url } = await startReachable(t)
  const page = await openPage(t, browser, `${url}/healthz`)
  await page.route('**/playground/sessions', (route) => route.abort())
  await page.goto(`${url}/#code=${await newCode(gateway)}`)
  await page.getByRole('alert').getByText('The service does not answer.').waitFor()
  await enterKey(page, gateway.key)
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
})

test('an older page of a list is asked for once, however often the button is pressed', async (t) => {
  const { url } = await startReachable(t, { adminToken: ADMIN_TOKEN })
  const page = await openPage(t, browser, `${url}/#/admin/audit`)
  const answer = (calls: string, next: string | null) =>
    page.route(calls, (route) => route.fulfill({ json: { data: [], next_cursor: next } }))
  await answer('**/admin/changes?**', 'second')
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  const older = page.getByRole('button', { name: 'Older' })
  await answer('**/admin/changes?**cursor=second', 'third')
  const release = await hold(page, '**/admin/changes?**cursor=second')
  await older.click()
  await page.locator('button:disabled', { hasText: 'Older' }).waitFor()
  release()
  await page.locator('button:enabled', { hasText: 'Older' }).waitFor()
  await page.getByText('Page 2').waitFor()

  const releaseFirst = await hold(page, '**/admin/changes?limit=50')
  await page.getByRole('button', { name: 'Newer' }).click()
  await page.locator('button:disabled', { hasText: 'Older' }).waitFor()
  await page.getByText('Page 1').waitFor()
  releaseFirst()
  await page.locator('button:enabled', { hasText: 'Older' }).waitFor()
  await page.route('**/admin/changes?**', (route) =>
    route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'No list.' } } }),
  )
  await page.getByRole('alert').getByText('No list.').waitFor()
})
