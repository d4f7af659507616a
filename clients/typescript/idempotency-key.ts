/** Keys by which the service knows that two submits are one. */

/** Hexadecimal; `randomUUID` is only there over HTTPS and on localhost. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
