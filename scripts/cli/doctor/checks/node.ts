/** Checks the Node version and the machine. */

import { arch, platform, release } from 'node:os'
import { failure, okFinding, type Finding } from '../finding.ts'

export const checkNode = async (): Promise<Finding[]> => [nodeFinding(process.versions.node)]

/** @param version for example `20.19.0` */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const found = `Node ${version} on ${platform()} ${release()}, ${arch()}`
  if (platform() !== 'linux' || arch() !== 'x64') {
    return failure('node', found, 'Winnow runs on Linux on x86-64.')
  }
  const isOld = major < 20 || (major === 20 && minor < 19)
  return isOld ? failure('node', found, 'Install Node 20.19 or later.') : okFinding('node', found)
}
