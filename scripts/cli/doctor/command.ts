/** The command line of `doctor`. */

import { readFileSync } from 'node:fs'
import { commandText } from '../command-name.ts'
import { action, command, FLAG, oneOf, TEXT, UsageError } from '../command.ts'
import { CHECKS, type Check } from './checks.ts'
import { readContext, type Context, type Role } from './context.ts'
import { exitCodeOf, failure, type Finding } from './finding.ts'
import { printed } from './print.ts'

const EGRESS_URL = 'https://example.com/'

const HELP = `Usage: ${commandText('doctor', '[options]')}

Checks what this host needs to run Winnow, and suggests a remedy for each problem. It uses the
settings in the environment and, after install-host, those in /etc/winnow (with sudo, its secrets
too). It changes nothing, but writes and removes a file of a few bytes in the data folder and in the
bucket, and separates one second of sound.

  --role ROLE   gateway, engine or all (default: as installed, otherwise all)
  --egress URL  the external URL for testing the network (default: ${EGRESS_URL})
  --json        print one JSON object, for programs and bug reports

The exit code is 0 if everything is fine, 1 if there are warnings, 2 if something fails, and 64 if
the command line is wrong.
`
const ROLES: readonly Role[] = ['gateway', 'engine', 'all']
const WRONG_USAGE = 64

/** Prints what this host has and lacks. */
export const doctor = command({
  help: HELP,
  usageCode: WRONG_USAGE,
  actions: action({
    options: { role: TEXT, egress: { ...TEXT, default: EGRESS_URL }, json: FLAG },
    async run({ role, egress, json }, _operands, { env, stdout }) {
      if (!URL.canParse(egress)) {
        throw new UsageError(`--egress must be an address, not "${egress}".`)
      }
      const context = readContext(env, { role: oneOf('--role', role, ROLES), egressUrl: egress })
      Object.assign(env, context.env) // Amazon's SDK looks for keys there, as in the gateway
      const findings: Finding[] = []
      for (const check of CHECKS) findings.push(...(await findingsOf(check, context)))
      const report = json
        ? `${JSON.stringify({ version: version(), findings })}\n`
        : printed(findings)
      stdout.write(report)
      return exitCodeOf(findings)
    },
  }),
})

/** A check that cannot be made counts as a failure. */
const findingsOf = ({ name, run }: Check, context: Context): Promise<Finding[]> =>
  run(context).catch((error: unknown) => [
    failure(name, `the check could not be made: ${(error as Error).message}`, 'Report it.'),
  ])

function version(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
