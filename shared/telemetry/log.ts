import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/** Fields that must never be logged, at any depth of a logged object. */
const SECRET_PATHS = [
  'req.headers.authorization',
  'authorization',
  '*.authorization',
  'webhookSecret',
  '*.webhookSecret',
  'signing_secret',
  '*.signing_secret',
  'webhook_secret',
  '*.webhook_secret',
]

/**
 * A JSON logger, one line per entry, on standard output unless `destination` is given.
 * @param name which process logs: `gateway`, `engine`, `start`
 * @param level one of pino's levels, or `silent`
 */
export const createLogger = (
  name: string,
  level: string,
  destination?: DestinationStream,
): Logger => {
  const options = { name, level, redact: { paths: SECRET_PATHS, censor: '[secret]' } }
  return pino(options, destination ?? standardOutput())
}

/** Lines that wait in memory for room on the disk of the log; what exceeds it is lost. */
const WAITING_BYTES_MAX = 4 * 2 ** 20

/**
 * Standard output, which may be a file on a full disk: lines wait until there is room. Without the
 * listener the first refused line ends the process, or hangs it.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: WAITING_BYTES_MAX })
  output.on('error', () => undefined)
  return output
}
