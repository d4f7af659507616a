/**
 * The checkpoint of a request: the results of the chunks that its attempts have separated so far,
 * in self-contained segments. An engine stores each segment at the next address of its job, and the
 * engine of a later attempt reads them all. Nobody else may.
 */

/** Media up to this length has no checkpoint, because separating it again costs little. */
export const CHECKPOINT_MEDIA_SECONDS_MIN = 60

export const SEGMENTS_MAX = 24

/**
 * Size limit of one segment in bytes; with the number of segments it bounds what a request stores.
 */
export const SEGMENT_BYTES_MAX = 2 ** 28
