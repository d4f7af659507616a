/** Makes keys by which the service recognizes a repeated submit. */

/** Not `randomUUID`, which browsers have only over HTTPS and on localhost. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
