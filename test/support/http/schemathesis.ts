/** Runs Schemathesis, which tests an HTTP API against its own description. */

import { python, pythonPackages } from '../packages/python-packages.ts'

interface Target {
  url: string
  key: string
  /** An uploaded file that can be submitted. */
  fileId: string
}

/** Resolves with the report and the exit code, which is 0 if nothing was found. */
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
