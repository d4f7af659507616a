import { execFileSync } from 'node:child_process'

/** Generated files, whose sources are checked instead. */
const GENERATED = [
  'clients/typescript/api.ts',
  'clients/python/src/winnow_client/_api.py',
  'docs/reference/licences.md',
  'docs/reference/cli.md',
  'docs/reference/settings.md',
]
const PAGE = /^(docs\/.*|models\/[\w-]+\/card|[\w/]*README|[A-Z]+)\.md$/
const CODE = /\.(tsx?|mjs|py)$/
/** Sources with texts that users, admins or developers read. */
const SPEAKING = /^(gateway|engine|shared|models|scripts|web|bench|clients)\/.*\.(tsx?|mjs)$/
/** Files that only quote words: the vocabulary of prompts, and these rules. */
const QUOTED = /^(shared\/prompts\/languages|scripts\/tools\/prose)\//

interface FileList {
  pages: string[]
  code: string[]
  speaking: string[]
}

/**
 * Lists the handwritten files of this checkout, relative to its root, including those not added to
 * git yet.
 */
export function listFiles(): FileList {
  const command = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const paths = execFileSync('git', command, { encoding: 'utf8', maxBuffer: 16 * 2 ** 20 })
    .split('\n')
    .filter((path) => !GENERATED.includes(path))
  return {
    pages: paths.filter((path) => PAGE.test(path) && !path.includes('training')),
    code: paths.filter((path) => CODE.test(path)),
    speaking: paths.filter((path) => SPEAKING.test(path) && !QUOTED.test(path)),
  }
}
