/** The Python client, installed from its wheel, and the ComfyUI nodes that use it. */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createClient } from '../../clients/typescript/node.ts'
import { signatureHeaders } from '../../gateway/webhooks/signature.ts'
import { fc } from '../support/basics/property.ts'
import {
  COMFYUI_NODES,
  installPythonClient,
  PYTHON_CLIENT,
} from '../support/clients/python-client.ts'
import { python } from '../support/packages/python-packages.ts'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'

const PROJECT = join(PYTHON_CLIENT, 'pyproject.toml')

test('python: the client and the nodes of ComfyUI', async (t) => {
  const path = await installPythonClient(t)
  const run = async (words: string[], env: NodeJS.ProcessEnv = {}) => {
    const { code, output } = await python(['-m', ...words], { PYTHONPATH: path, ...env })
    assert.equal(code, 0, output)
    return output
  }
  const folder = await mkdtemp(join(tmpdir(), 'winnow-typed-'))
  t.after(() => rm(folder, { recursive: true }))
  const cache = `--cache-dir=${join(folder, 'cache')}` // caches the types of Python's standard library
  await t.test('both pass the type check and the linter', async () => {
    const folders = [PYTHON_CLIENT, COMFYUI_NODES]
    await run(['ruff', 'check', '--no-cache', '--config', PROJECT, ...folders])
    await run(['ruff', 'format', '--no-cache', '--config', PROJECT, '--check', ...folders])
    const mypy = ['mypy', '--config-file', PROJECT, cache]
    const client = ['src', 'tests'].map((name) => join(PYTHON_CLIENT, name))
    const nodes = ['audio', 'service', 'nodes'].map((name) => join(COMFYUI_NODES, `${name}.py`))
    const env = { MYPYPATH: join(COMFYUI_NODES, 'tests/stand_ins') }
    await run([...mypy, ...client, ...nodes], env)
  })
  await t.test('the installed client has types', async () => {
    const program = join(folder, 'program.py')
    const lines = ['reveal_type(winnow_client.Client.models)', 'winnow_client.Client(1)', '']
    await writeFile(program, ['import winnow_client', ...lines].join('\n'))
    const words = ['-m', 'mypy', '--strict', cache, program]
    const { code, output } = await python(words, { PYTHONPATH: path })
    assert.equal(code, 1)
    assert.match(output, /Revealed type is "def .* -> .*ModelList/)
    assert.match(output, /incompatible type "int"; expected "str"/)
    assert.match(output, /Found 1 error/)
  })
  await t.test('its version is that of the service', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    assert.match(await readFile(PROJECT, 'utf8'), new RegExp(`^version = "${version}"$`, 'm'))
  })
  await t.test('it has the calls of the TypeScript client', async () => {
    const calls = Object.keys(createClient({ baseUrl: 'http://winnow.test', apiKey: 'key' }))
    const list = 'import winnow_client as w; print(*(c for c in dir(w.Client) if c[0] != "_"))'
    const { output } = await python(['-c', list], { PYTHONPATH: path })
    const names = calls.map((name) => name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`))
    assert.deepEqual(output.trim().split(' '), [...names, 'close'].sort())
  })

  const winnow = await startWinnow(t, { env: { EGRESS_ALLOW_CIDRS: '127.0.0.1/32' } })
  const webhooks = join(winnow.folder, 'webhooks.json')
  await writeFile(webhooks, JSON.stringify(signedWebhooks()))
  for (const [folder, least] of [
    [PYTHON_CLIENT, 60],
    [COMFYUI_NODES, 9],
  ] as const) {
    await t.test(`the tests of ${folder} pass, with the real service`, async () => {
      const output = await run(['pytest', '-q', '-c', PROJECT, join(folder, 'tests')], {
        WINNOW_URL: winnow.url,
        WINNOW_API_KEY: API_KEY,
        WINNOW_WEBHOOKS: webhooks,
      })
      const passed = Number(/(\d+) passed/.exec(output)?.[1])
      assert.ok(passed >= least, output)
      assert.doesNotMatch(output, /skipped|deselected|xfail/, output)
      t.diagnostic(`${passed} tests`)
    })
  }
})

/** Returns bodies signed as the gateway signs them, with secrets of every kind. */
function signedWebhooks() {
  const now = 1_767_323_045
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const secrets = fc.oneof(
    bytes.map((secret) => `whsec_${Buffer.from(secret).toString('base64')}`),
    fc.base64String({ minLength: 10 }).map((rest) => `whsec_${rest}`),
    fc.string({ minLength: 10, maxLength: 250 }).map((rest) => `whsec_${rest}`),
    fc.string({ unit: 'grapheme', minLength: 16, maxLength: 256 }),
  )
  return fc.sample(fc.tuple(secrets, fc.json()), 200).map(([secret, body]) => {
    const message = { id: 'msg_1', timestamp: now, body: Buffer.from(body) }
    return { secret, now, body, headers: signatureHeaders([secret], message) }
  })
}
