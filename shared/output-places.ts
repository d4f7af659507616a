/**
 * Gives each attempt at a request its own place for its outputs, so that no attempt overwrites what
 * another has stored.
 */

/** With the upload of an output: the id of the attempt that made it. */
export const ATTEMPT_HEADER = 'winnow-attempt'
/**
 * With the response: the place of the output, which the engine repeats in its `completed` event.
 */
export const PLACE_HEADER = 'winnow-place'

/** Has no dots or slashes, because it is part of a key. */
export const PLACE_PATTERN = '^[\\w-]{1,64}$'

const PLACE = new RegExp(PLACE_PATTERN)

export const isPlace = (text: unknown): text is string =>
  typeof text === 'string' && PLACE.test(text)
