/** How often V8 collects garbage in an engine and its media processes. */

import { setFlagsFromString } from 'node:v8'

/** Growth from one collection to the next, in percent of what is in use after it. */
const GROWTH_PERCENT = 200

/**
 * An option of V8, for all threads of a process. With it buffers are freed by the cheap collections
 * of new objects, which come every 32 MB. Buffers count as part of the heap: by V8's own choice, a
 * small one is marked as a whole after some 16 MB of them, nine times in a minute of stereo. That
 * was half of an engine's processor time, model apart. Past 64 MB of new buffers that are still
 * in use the heap is marked in any case. More percent save next to nothing, and let a quiet engine
 * keep garbage for half an hour.
 */
export const COLLECT_LESS_OFTEN = `--heap-growing-percent=${GROWTH_PERCENT}`

/** Sets this of the running process. */
export const collectLessOften = (): void => setFlagsFromString(COLLECT_LESS_OFTEN)
