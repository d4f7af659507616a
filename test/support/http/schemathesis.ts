/** Schemathesis, which tests an HTTP API against its own description, as a function. */

import { python, pythonPackages } from '../packages/python-packages.ts'

interface Target {
  url: string
  key: string
  /** An uploaded file that may be submitted. */
  fileId: string
}

/** Resolves with its exit code, 0 when nothing was found, and its report. */
export async function runSchemathesis({ url, key, fileId }: Target) {
  const folder = await pythonPackages('schemathesis==4.32.5', 'hypothesis==6.170.15')
  return python(
    [
      '-m',
      'schemathesis.cli',
      '--config-file',
      'test/support/http/schemathesis.toml',
      '--no-color',
      'run',
      `${url}/v1/openapi.json`,
    ],
    { PYTHONPATH: `${folder}:test/support/http`, WINNOW_KEY: key, WINNOW_FILE_ID: fileId },
  )
}
