/** Listening sockets that systemd opened and passes on (sd_listen_fds), by name. */

import { StartError } from './lifecycle.ts'

/** The first file descriptor, as in sd_listen_fds(3). */
const FIRST_FD = 3

/**
 * Returns their file descriptors by name (FileDescriptorName= of the .socket unit); empty if there
 * are none for the process `ownerPid`, which is this one or the one whose ports it shares.
 * @throws StartError for a name that is not in `names`, or occurs twice
 */
export async function inheritedSockets<Name extends string>(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly Name[],
  ownerPid = process.pid,
): Promise<Partial<Record<Name, number>>> {
  if (env.LISTEN_PID !== String(ownerPid)) return {}
  const handedOver = (env.LISTEN_FDNAMES ?? '').split(':').slice(0, Number(env.LISTEN_FDS ?? 0))
  const sockets: Partial<Record<Name, number>> = {}
  for (const [i, name] of handedOver.entries()) {
    const expected = names.find((candidate) => candidate === name)
    if (!expected || sockets[expected] !== undefined) {
      throw new StartError(
        `The service manager hands over sockets named ${handedOver.join(', ')}: expected one ` +
          `each of ${names.join(', ')} at most. Correct FileDescriptorName= in the .socket units.`,
      )
    }
    sockets[expected] = FIRST_FD + i
  }
  return sockets
}
