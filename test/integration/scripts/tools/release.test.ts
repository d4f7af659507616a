import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cutRelease } from '../../../../scripts/tools/release/cut-release.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const PATHS = [
  'package.json',
  'package-lock.json',
  'clients/typescript/package.json',
  'clients/python/pyproject.toml',
  'models/training/pyproject.toml',
  'docs/how-to/install.md',
  'docs/how-to/kubernetes.md',
  'ops/helm/winnow/Chart.yaml',
  'docs/how-to/compose.md',
  'compose.yaml',
  'CHANGELOG.md',
]

const date = '2026-01-31'
const repository = 'https://git.example.org/team/winnow'

/**
 * Makes a repository with the files of this one that state the version, and one change to release.
 */
async function start(t: TestContext) {
  const root = temporaryFolder(t)
  for (const path of PATHS) await cp(join(ROOT, path), join(root, path))
  const changelog = join(root, 'CHANGELOG.md')
  const [head, ...rest] = (await readFile(changelog, 'utf8')).split('## [Unreleased]\n')
  const change = '\n### Fixed\n\n- A fault.\n'
  await writeFile(changelog, [head, change + rest.join('')].join('## [Unreleased]\n'))
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...words], {
      cwd: root,
      encoding: 'utf8',
    })
  git('init', '--quiet')
  git('config', 'user.name', 'T')
  git('config', 'user.email', 't@example.com')
  git('add', '.')
  git('commit', '--quiet', '--message', 'All')
  const read = (path: string) => readFile(join(root, path), 'utf8')
  return { root, git, read, version: JSON.parse(await read('package.json')).version as string }
}

test('a release writes its version everywhere, dates the changelog, commits and tags', async (t) => {
  const { root, git, read, version } = await start(t)
  const before = await Promise.all(PATHS.map(read))
  cutRelease(root, { version: '999.0.1', date, repository })
  for (const [i, path] of PATHS.entries()) {
    const text = await read(path)
    assert.notEqual(text, before[i], path)
    const changedLines = text.split('\n').filter((line) => !before[i]!.split('\n').includes(line))
    assert.ok(changedLines.length <= 5, `${path}: ${changedLines.join('\n')}`)
    if (path !== 'CHANGELOG.md') assert.ok(!text.includes(`winnow_${version}_`), path)
  }
  assert.match(
    await read('CHANGELOG.md'),
    /## \[Unreleased\]\n\n## \[999\.0\.1\] - 2026-01-31\n\n###/,
  )
  assert.equal(git('status', '--porcelain'), '')
  assert.equal(git('log', '-1', '--format=%s').trim(), 'Release 999.0.1')
  assert.equal(git('tag', '--list', '--points-at', 'HEAD').trim(), 'v999.0.1')
  const { homepage, bugs, repository: cloned } = JSON.parse(await read('package.json'))
  assert.deepEqual(
    [homepage, bugs, cloned.url],
    [repository, `${repository}/issues`, `git+${repository}.git`],
  )
  for (const path of PATHS) assert.ok(!(await read(path)).includes('https://example.com/winnow'))
  assert.throws(
    () => cutRelease(root, { version: '999.0.2', date }),
    /nothing under/,
    'kept address',
  )
})

test('whatever prevents a release is reported, and nothing is changed', async (t) => {
  const { root, git, version } = await start(t)
  const refused = (requested: string, message: RegExp) =>
    assert.throws(() => cutRelease(root, { version: requested, date, repository }), message)
  refused('1.2', /form 1\.2\.3/)
  refused(version, /is not later than/)
  refused('0.1.9', /is not later than/)
  assert.throws(
    () => cutRelease(root, { version: '999.0.1', date }),
    /is a placeholder: add --repo/,
  )
  git('tag', 'v999.0.1')
  refused('999.0.1', /tag v999\.0\.1 exists/)
  assert.equal(git('status', '--porcelain'), '')
  await writeFile(join(root, 'new'), '')
  refused('999.0.2', /uncommitted/)
})
