/** Makes a release: sets the version, dates the changelog, commits and tags. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Manifest {
  version: string
  homepage: string
}

type Change = (text: string, version: string, before: string) => string

const jsonOf = (value: object) => `${JSON.stringify(value, null, 2)}\n`

const inJson: Change = (text, version) => jsonOf({ ...JSON.parse(text), version })
const inToml: Change = (text, version) =>
  text.replace(/^version = ".*"$/m, `version = "${version}"`)
const inText: Change = (text, version, before) => text.replaceAll(before, version)

function inLock(text: string, version: string): string {
  const lock = JSON.parse(text)
  lock.packages[''].version = version
  return jsonOf({ ...lock, version })
}

/** Every file that states the version, with how to change it. */
const PLACES: Readonly<Record<string, Change>> = {
  'package.json': inJson,
  'package-lock.json': inLock,
  'clients/typescript/package.json': inJson,
  'clients/python/pyproject.toml': inToml,
  'models/training/pyproject.toml': inToml,
  'docs/how-to/install.md': inText,
  'docs/how-to/kubernetes.md': inText,
  'ops/helm/winnow/Chart.yaml': inText,
  'docs/how-to/compose.md': inText,
  'compose.yaml': inText,
}

/** Stands in for the repository's address until the first release sets the real one. */
const PLACEHOLDER = 'https://example.com/winnow'

const CHANGELOG = 'CHANGELOG.md'
const UNRELEASED = '## [Unreleased]\n'

export interface Release {
  /** Such as `1.2.3`. */
  version: string
  /** Such as `2026-01-31`. */
  date: string
  /**
   * The repository's address, such as `https://github.com/you/winnow`. Only the first release needs
   * it.
   */
  repository?: string | undefined
}

/**
 * Commits the release, and tags it `v<version>`. Changes nothing if it throws.
 * @param root folder of a checkout
 * @throws Error that says what prevents the release
 */
export function cutRelease(root: string, { version, date, repository }: Release): void {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' })
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const { version: before, homepage } = JSON.parse(read('package.json')) as Manifest
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`A version has the form 1.2.3, not "${version}".`)
  }
  if (version.localeCompare(before, 'en', { numeric: true }) <= 0) {
    throw new Error(`${version} is not later than ${before}.`)
  }
  if (git('status', '--porcelain') !== '') {
    throw new Error('There are uncommitted changes: commit or stash them first.')
  }
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`The tag v${version} exists.`)
  const address = repository ?? homepage
  if (address === PLACEHOLDER) {
    throw new Error(`${PLACEHOLDER} is a placeholder: add --repository https://…`)
  }
  if (!/^https:\/\/[^/]+\/.*[^/]$/.test(address)) {
    throw new Error(`The repository URL must look like https://host/winnow, not "${address}".`)
  }
  const changes = Object.entries(PLACES).map(([path, change]) => {
    const text = change(read(path), version, before).replaceAll(homepage, address)
    if (!text.includes(version)) throw new Error(`${path} does not state the version.`)
    return { path, text }
  })
  changes.push({ path: CHANGELOG, text: dated(read(CHANGELOG), version, date) })
  for (const { path, text } of changes) writeFileSync(join(root, path), text)
  git('commit', '--quiet', '--all', '--message', `Release ${version}`)
  git('tag', '--annotate', '--message', `Winnow ${version}`, `v${version}`)
}

/** @throws Error if the changelog has no unreleased entries */
function dated(changelog: string, version: string, date: string): string {
  const [head, ...rest] = changelog.split(UNRELEASED)
  const text = rest.join(UNRELEASED)
  if (!text || text.trimStart().startsWith('## ')) {
    throw new Error(`${CHANGELOG} has nothing under ${UNRELEASED.trim()}.`)
  }
  return `${head}${UNRELEASED}\n## [${version}] - ${date}\n${text}`
}
