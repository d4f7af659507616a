/** Checks whether the kernel sandboxes the processes that decode strangers' media. */

import {
  sandboxProblem,
  sandboxSupport,
  type SandboxSupport,
} from '../../../../engine/media/process/sandbox-support.ts'
import type { Context } from '../context.ts'
import { okFinding, type Finding, warning } from '../finding.ts'

export async function checkSandbox({ engine }: Context): Promise<Finding[]> {
  return engine === undefined ? [] : [sandboxFinding(await sandboxSupport())]
}

export function sandboxFinding(support: SandboxSupport): Finding {
  const problem = sandboxProblem(support)
  if (problem === null) {
    const version = `Landlock ${support.landlock}`
    return okFinding('sandbox', `media is decoded without network or other files (${version})`)
  }
  const remedy =
    'Use Linux 5.13 or later with landlock in /sys/kernel/security/lsm; in a container, allow ' +
    'the system calls landlock_* and seccomp.'
  return warning('sandbox', problem, remedy)
}
