/**
 * The checkpoint of a request: the results of the chunks that its attempts have separated so far,
 * in self-contained segments, which only the engines of its attempts store and read.
 */

/** Media up to this length has no checkpoint, because separating it again costs little. */
export const CHECKPOINT_MEDIA_SECONDS_MIN = 60

export const SEGMENTS_MAX = 24

/** Size limit of a segment in bytes; with their number it bounds what a request stores. */
export const SEGMENT_BYTES_MAX = 2 ** 28
