/** Checks whether gateway and engine would accept their settings. */

import type { Context } from '../context.ts'
import { failure, okFinding, type Finding } from '../finding.ts'

export async function checkSettings({ problems }: Context): Promise<Finding[]> {
  if (problems.length === 0) return [okFinding('settings', 'gateway and engine would take them')]
  const remedy = 'Correct it in the environment or /etc/winnow; see docs/reference/settings.md.'
  return problems.map((problem) => failure('settings', problem, remedy))
}
