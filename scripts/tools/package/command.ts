/** Defines the command line of `winnow package`. */

import { action, command, oneOf, TEXT, UsageError } from '../../cli/command.ts'
import { makeDeb } from './deb.ts'
import { COMPUTES, type Compute, type Say } from './types.ts'
import { makeNpmPackage } from './npm-package.ts'

const HELP = `npm run winnow -- package        dist/winnow-<version>.tgz, for npm
npm run winnow -- package deb    dist/winnow_<version>_amd64.deb, for Debian and Ubuntu

--compute cpu|cuda: for deb (default: cpu); with cuda the version ends with it.
deb holds all that runs, Node included. It is for machines of your own: docs/reference/licences.md
says why it must not be passed on as it is. For an image: docs/how-to/compose.md.
DEBFULLNAME and DEBEMAIL: who the package names as its maintainer.
The exit code is 0 when made, 1 when it failed, 2 when the command line is wrong.
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
