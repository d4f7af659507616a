/** How often V8 collects garbage in an engine and its media processes. */

import { setFlagsFromString } from 'node:v8'

/** Of what is in use after a collection, in percent: how much more there may be until the next. */
const GROWTH_PERCENT = 400

/**
 * An option of V8, for all threads of a process. It lets buffers be freed by the cheap collections of new objects, which come every 32 MB. Buffers
 * count as part of the heap: by V8's own choice, a heap of 20 MB is marked as a whole after 16 MB of
 * them, nine times in a minute of stereo. That was half of the engine's processor time. Past 64 MB
 * of buffers the heap is marked in any case.
 */
export const COLLECT_LESS_OFTEN = `--heap-growing-percent=${GROWTH_PERCENT}`

/** Sets this of the running process. */
export const collectLessOften = (): void => setFlagsFromString(COLLECT_LESS_OFTEN)
