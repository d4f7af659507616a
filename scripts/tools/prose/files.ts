import { execFileSync } from 'node:child_process'

/** Written whole by a command, from sources that are judged themselves. */
const GENERATED = [
  'clients/typescript/api.ts',
  'clients/python/src/winnow_client/_api.py',
  'docs/reference/licences.md',
  'docs/reference/cli.md',
  'docs/reference/settings.md',
]
const PAGE = /^(docs\/.*|models\/[\w-]+\/card|[\w/]*README|[A-Z]+)\.md$/
const CODE = /\.(tsx?|mjs|py)$/
/** A user, an operator or a developer reads the texts of these files. */
const SPEAKING = /^(gateway|engine|shared|models|scripts|web|bench|clients)\/.*\.(tsx?|mjs)$/
/** Vocabulary that prompts are read with, and these rules themselves. */
const QUOTED = /^(shared\/prompts\/languages|scripts\/tools\/prose)\//

interface FileList {
  pages: string[]
  code: string[]
  speaking: string[]
}

/** Lists what people wrote in this checkout, from its root, files not added to git included. */
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
