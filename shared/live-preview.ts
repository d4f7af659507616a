/**
 * The live preview of a request: the mixture and its outputs as far as they are separated, so that
 * people can listen before the rest is done. It has the segments of the preview, in parts. An
 * engine stores each part at the next address of its job. A later attempt makes the same parts
 * again, of the same segments, and replaces those of the attempt before.
 *
 * A part is self-contained: the length of its JSON in bytes (32 bits, little-endian), the JSON, and
 * the segments. The JSON holds the peaks of everything so far at a low resolution, and its
 * `preview` is the index of this part.
 */

/** How many parts a request has at most: enough for some hours. What follows them is not live. */
export const LIVE_PARTS_MAX = 32

/** Size limit of one part in bytes; with the number of parts it bounds what a request stores. */
export const LIVE_PART_BYTES_MAX = 2 ** 26

/** Parts grow with what is before them, so that there are few, and the first ones come soon. */
const GROWTH = 1.25

/**
 * Returns how many segments of each sound there are up to the end of a part.
 * @param before the same number for the part before it; 0 for the first
 */
export const endOfPart = (before: number): number => Math.max(1, Math.ceil(before * GROWTH))
