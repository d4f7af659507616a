/** The command line of `winnow package`. */

import { parseArgs } from 'node:util'
import { makeDeb } from './deb.ts'
import { makeImage } from './image.ts'
import { COMPUTES, type Compute, type Say } from './types.ts'
import { makeNpmPackage } from './npm-package.ts'

const HELP = `npm run winnow -- package        dist/winnow-<version>.tgz, for npm
npm run winnow -- package deb    dist/winnow_<version>_amd64.deb, for Debian and Ubuntu
npm run winnow -- package image  dist/winnow-<version>-image.tar, for Docker and Podman

--compute cpu|cuda: for deb and image (default: cpu).
The last two hold all that runs, Node included; with --compute cuda the version ends with cuda. An
image needs mmdebstrap, and root or user namespaces. They are for machines of your own:
docs/reference/licences.md says why they must not be passed on as they are.
DEBFULLNAME and DEBEMAIL: who the package names as its maintainer.
The exit code is 0 when made, 1 when it failed, 2 when the command line is wrong.
`

const MAKERS: Readonly<Record<string, (compute: Compute, say: Say) => Promise<string>>> = {
  npm: () => makeNpmPackage(),
  deb: makeDeb,
  image: makeImage,
}

interface World {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/** Runs the command with the words of its command line and resolves with its exit code. */
export async function runPackage(
  words: readonly string[],
  { stdout, stderr }: World,
): Promise<number> {
  const wanted = parse(words)
  if (typeof wanted === 'string') {
    stderr.write(`${wanted}\n\n${HELP}`)
    return 2
  }
  if (wanted.help) {
    stdout.write(HELP)
    return 0
  }
  try {
    const made = await wanted.make(wanted.compute, (line) => void stderr.write(`${line}\n`))
    stdout.write(`${made}\n`)
    return 0
  } catch (error) {
    stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

function parse(words: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        compute: { type: 'string', default: 'cpu' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const [kind = 'npm', ...rest] = positionals
    const make = Object.hasOwn(MAKERS, kind) ? MAKERS[kind] : undefined
    if (!make || rest.length > 0) return `There is no package "${positionals.join(' ')}".`
    const compute = COMPUTES.find((each) => each === values.compute)
    if (!compute) return `--compute must be cpu or cuda, not "${values.compute}".`
    return { help: values.help, make, compute }
  } catch (error) {
    return (error as Error).message
  }
}
