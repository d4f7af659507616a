/** The command line of `doctor`. */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { called } from '../command-name.ts'
import { CHECKS, type Check } from './checks.ts'
import { readContext, type Context, type Role } from './context.ts'
import { exitCodeOf, failure, type Finding } from './finding.ts'
import { printed } from './print.ts'

const HELP = `Usage: ${called('doctor', '[options]')}

Looks at what this host has and lacks to run Winnow, and says for each what would help. Settings are
those of the environment, and of /etc/winnow where install-host has been (with sudo: its secrets,
too). Nothing is changed; a file of a few bytes is written and removed in the data folder and in the
bucket, and one second of sound is separated.
  --role ROLE   gateway, engine or all (default: as installed, else all)
  --egress URL  the address outside that is asked for (default: ${'https://example.com/'})
  --json        one JSON object, for programs and bug reports

The exit code is 0 when all is fine, 1 when there are warnings, 2 when something fails, 64 when the
command line is wrong.
`
const EGRESS_URL = 'https://example.com/'
const ROLES: readonly Role[] = ['gateway', 'engine', 'all']
const WRONG_USAGE = 64

interface World {
  /** The process's own: the settings of an installation are put into it. */
  env: NodeJS.ProcessEnv
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/** Runs the command and resolves with its exit code. */
export async function doctor(
  words: readonly string[],
  { env, stdout, stderr }: World,
): Promise<number> {
  const options = parse(words)
  if ('problem' in options) {
    stderr.write(`${options.problem}\n\n${HELP}`)
    return WRONG_USAGE
  }
  if (options.help) {
    stdout.write(HELP)
    return 0
  }
  const context = readContext(env, options)
  Object.assign(env, context.env) // where Amazon's SDK looks for keys, as in the gateway
  const findings: Finding[] = []
  for (const check of CHECKS) findings.push(...(await found(check, context)))
  stdout.write(
    options.json ? `${JSON.stringify({ version: version(), findings })}\n` : printed(findings),
  )
  return exitCodeOf(findings)
}

function parse(words: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        role: { type: 'string' },
        egress: { type: 'string', default: EGRESS_URL },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const { egress: egressUrl, json, help } = values
    const role = ROLES.find((each) => each === values.role)
    if (values.role !== undefined && !role) {
      return { problem: `--role must be one of ${ROLES.join(', ')}, not "${values.role}".` }
    }
    if (!URL.canParse(egressUrl))
      return { problem: `--egress must be an address, not "${egressUrl}".` }
    return { role, egressUrl, json, help }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** A check that can't be made is a failure as well: it was not fine before. */
const found = ({ name, run }: Check, context: Context): Promise<Finding[]> =>
  run(context).catch((error: unknown) => [
    failure(name, `the check could not be made: ${(error as Error).message}`, 'Report it.'),
  ])

const version = (): string =>
  (
    JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
  ).version
