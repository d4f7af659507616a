/**
 * The checkpoint of a request: the results of the chunks that its attempts have separated so far,
 * in segments that each stand alone. An engine stores a segment at the next address of its job, and
 * the engine of a later attempt reads them all. Nobody else may.
 */

/** Media up to this length has no checkpoint, because separating it again costs little. */
export const CHECKPOINT_MEDIA_SECONDS_MIN = 60

/** Segments of one request. */
export const SEGMENTS_MAX = 24

/** Bytes of one segment: with the number of segments, the bound of what a request keeps. */
export const SEGMENT_BYTES_MAX = 2 ** 28
