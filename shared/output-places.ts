/**
 * Gives each attempt at a request a place of its own for its outputs, so that no attempt replaces
 * what another has stored. A gateway of 0.2.0 knows no places.
 */

/** With an upload of an output: the id of the attempt that made it. */
export const ATTEMPT_HEADER = 'winnow-attempt'
/** With the answer: the place of the output, which the engine repeats in its `completed` event. */
export const PLACE_HEADER = 'winnow-place'

/** Without dots and slashes: it is part of a key. */
export const PLACE_PATTERN = '^[\\w-]{1,64}$'

const PLACE = new RegExp(PLACE_PATTERN)

export const isPlace = (text: unknown): text is string =>
  typeof text === 'string' && PLACE.test(text)
