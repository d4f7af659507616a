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
  return destination ? pino(options, destination) : pino(options)
}
