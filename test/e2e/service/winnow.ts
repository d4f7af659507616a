/** The service that the files of this folder share, and its main job. */

import assert from 'node:assert/strict'
import { before, type TestContext } from 'node:test'
import {
  downloadResult,
  separateFile,
  startWinnow,
  type Winnow,
} from '../../support/processes/start-winnow.ts'
import { readWav24 } from '../../support/media/wav.ts'

/** Empty until the service has started. */
export const winnow = {} as Winnow
let isStarted: () => void
/** Resolves once the service has started; the hooks of a file do not wait for each other. */
export const started = new Promise<void>((resolve) => (isStarted = resolve))
before(async (t) => {
  const env = { EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }
  Object.assign(winnow, await startWinnow(t as TestContext, { env }))
  isStarted()
})

type Options = Parameters<typeof separateFile>[2]

/** Returns the outputs of a separation that completes, and its log. */
export async function separated(path: string, options: Options) {
  const { submitted, last } = await separateFile(winnow, path, options)
  assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
  const files = await downloadResult(winnow, submitted)
  const logs = (last.logs ?? []).map(({ message }) => message)
  return {
    target: readWav24(files.target).planes,
    residual: readWav24(files.residual).planes,
    logs,
  }
}
