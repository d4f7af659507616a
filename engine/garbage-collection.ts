/** Sets how often V8 collects garbage in an engine and its media processes. */

import { setFlagsFromString } from 'node:v8'

/** How much the heap may grow from one collection to the next, in percent of what is in use. */
const GROWTH_PERCENT = 200

/**
 * An option of V8 for all threads of a process. It lets the cheap collections of new objects, which
 * come every 32 MB, free most buffers. Buffers count as heap, so by default V8 would mark a small
 * heap completely after some 16 MB of them, nine times in a minute of stereo, which took half of an
 * engine's CPU time apart from the model. Once more than 64 MB of new buffers are in use, the
 * heap is marked in any case. A higher percentage saves next to nothing, and lets an idle engine
 * keep garbage for half an hour.
 */
export const COLLECT_LESS_OFTEN = `--heap-growing-percent=${GROWTH_PERCENT}`

/** Sets this for the running process. */
export const collectLessOften = (): void => setFlagsFromString(COLLECT_LESS_OFTEN)
