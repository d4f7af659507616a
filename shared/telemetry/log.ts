import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/** Fields that must never be logged, at any depth of an object. */
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
 * Creates a JSON logger, one line per entry, on standard output unless `destination` is given.
 * @param name the process that logs: `gateway`, `engine`, `start`
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

/** How many bytes of log lines may wait in memory while the disk is full; the excess is lost. */
const WAITING_BYTES_MAX = 4 * 2 ** 20

/**
 * Returns standard output, which may be a file on a full disk, so lines wait until there is room.
 * Without the listener, the first rejected line would end the process or hang it.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: WAITING_BYTES_MAX })
  output.on('error', () => undefined)
  return output
}
