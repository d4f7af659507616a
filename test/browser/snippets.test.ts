/** The request as code, copied from the page and run as it stands there. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { signedIn } from './playground.ts'
import { buildClient } from '../support/client-package.ts'
import { examplePath } from '../support/examples.ts'
import { installPythonClient } from '../support/python-client.ts'
import { API_KEY, startWinnow } from '../support/start-winnow.ts'

/** A name that every language has to quote. */
const NAME = `a "friend's" song.wav`

/** What the button puts on the clipboard. */
async function copied(page: Page, language: string): Promise<string> {
  await page.getByRole('button', { name: language, exact: true }).click()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByText('Copied.').waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

/** What a program prints. @throws Error with it when it fails */
const run = (folder: string, words: readonly [string, ...string[]], env: NodeJS.ProcessEnv = {}) =>
  new Promise<string>((resolve, reject) => {
    const [program, ...rest] = words
    const options = { cwd: folder, env: { ...process.env, WINNOW_API_KEY: API_KEY, ...env } }
    execFile(program, rest, options, (error, output, errors) =>
      error ? reject(new Error(`${output}\n${errors}`)) : resolve(output),
    )
  })

/** A folder with the file that the page names. */
async function readerFolder(base: string, name: string): Promise<string> {
  const folder = join(base, name)
  await mkdir(folder)
  await copyFile(examplePath('speech-over-piano.wav'), join(folder, NAME))
  return folder
}

async function chooseAll(page: Page, folder: string): Promise<void> {
  await page.getByLabel('Choose files').setInputFiles(join(folder, NAME))
  await page.getByLabel('Prompt 1').fill(`a friend's "piano"`)
  await page.getByRole('button', { name: 'Add another sound' }).click()
  await page.getByRole('textbox', { name: 'Prompt 2' }).fill('speech')
  await page.getByText('Options').click()
  await page.getByLabel('Quality').selectOption('fast')
  await page.getByLabel('Predict spans').check()
  await page.getByText('The same from your own code').click()
}

test('the code of the page runs as it was copied', async (t) => {
  const [browser, client, python] = await Promise.all([
    launchBrowser(t),
    buildClient(t),
    installPythonClient(t),
  ])
  const winnow = await startWinnow(t)
  const page = await signedIn({ t, winnow, browser })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await chooseAll(page, await readerFolder(winnow.folder, 'chosen'))
  const outputs = async (folder: string) =>
    (await readdir(folder)).filter((name) => /piano|speech/.test(name)).sort()

  await t.test('curl', async () => {
    const folder = await readerFolder(winnow.folder, 'curl')
    const answer = await run(folder, ['sh', '-c', await copied(page, 'curl')])
    const { request_id: id } = JSON.parse(answer) as { request_id: string }
    const { data } = await winnow.client.wait(id)
    assert.deepEqual(
      data.targets?.map(({ prompt }) => prompt),
      [`a friend's "piano"`, 'speech'],
    )
  })
  await t.test('TypeScript', async () => {
    const folder = await readerFolder(winnow.folder, 'ts')
    await mkdir(join(folder, 'node_modules'))
    await symlink(client, join(folder, 'node_modules/winnow-client'))
    await writeFile(join(folder, 'code.mjs'), await copied(page, 'TypeScript'))
    await run(folder, [process.execPath, 'code.mjs'])
    assert.equal((await outputs(folder)).length, 2)
  })
  await t.test('Python', async () => {
    const folder = await readerFolder(winnow.folder, 'python')
    await writeFile(join(folder, 'code.py'), await copied(page, 'Python'))
    await run(folder, ['python3', 'code.py'], { PYTHONPATH: python })
    assert.equal((await outputs(folder)).length, 2)
  })
})
