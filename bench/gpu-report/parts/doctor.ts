/** Reports what `npm run doctor` finds on the host for an engine. */
import { processIo } from '../../../scripts/cli/command.ts'
import { doctor } from '../../../scripts/cli/doctor/command.ts'
import type { Finding } from '../../../scripts/cli/doctor/finding.ts'
import type { Run } from '../options.ts'

export const doctorPart: Run = async function* () {
  let text = ''
  const stdout = { write: (more: string) => void (text += more) }
  const args = ['--role', 'engine', '--json']
  await doctor(args, { ...processIo(), stdout, stderr: stdout })
  const { findings } = JSON.parse(text) as { findings: Finding[] }
  yield* findings.map(({ name, severity, found }) => ({ name, severity, found }))
}
