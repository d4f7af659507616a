/** Whether gateway and engine would take their settings. */

import type { Context } from '../context.ts'
import { failure, fine, type Finding } from '../finding.ts'

export async function checkSettings({ problems }: Context): Promise<Finding[]> {
  if (problems.length === 0) return [fine('settings', 'gateway and engine would take them')]
  const remedy = 'Correct it in the environment, or in /etc/winnow; docs/operations.md lists all.'
  return problems.map((problem) => failure('settings', problem, remedy))
}
