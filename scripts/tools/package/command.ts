/** Defines the command line of `winnow package`. */

import { action, command, oneOf, TEXT, UsageError } from '../../cli/command.ts'
import { makeDeb } from './deb.ts'
import { COMPUTES, type Compute, type Say } from './types.ts'
import { makeNpmPackage } from './npm-package.ts'

const HELP = `npm run winnow -- package        dist/winnow-<version>.tgz, for npm
npm run winnow -- package deb    dist/winnow_<version>_amd64.deb, for Debian and Ubuntu

--compute cpu|cuda applies to deb (default: cpu); the version of a package for cuda ends with +cuda.
The deb contains everything that runs, Node included. Use it on your own machines only:
docs/reference/licences.md explains why you must not redistribute it as it is. For an image, see
docs/how-to/compose.md. DEBFULLNAME and DEBEMAIL name the package's maintainer.
The exit code is 0 if it was made, 1 if it failed, and 2 if the command line is wrong.
`

const MAKERS: Readonly<Record<string, (compute: Compute, say: Say) => Promise<string>>> = {
  npm: () => makeNpmPackage(),
  deb: makeDeb,
}

export const makePackage = command({
  help: HELP,
  actions: action({
    operands: ['[KIND]'],
    options: { compute: { ...TEXT, default: 'cpu' } },
    async run({ compute }, [kind = 'npm'], { stderr }) {
      const make = Object.hasOwn(MAKERS, kind) ? MAKERS[kind] : undefined
      if (!make) throw new UsageError(`There is no package "${kind}".`)
      const say = (line: string) => void stderr.write(`${line}\n`)
      return `${await make(oneOf('--compute', compute, COMPUTES), say)}\n`
    },
  }),
})
