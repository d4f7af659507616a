/**
 * The live preview of a request: mixture and outputs as far as they are separated, for people who
 * don't wait for the rest. It has the segments of the preview, in parts that engines store at the
 * job's addresses. A later attempt makes the same parts again and replaces them.
 *
 * A part has the length of its JSON in bytes (32 bits, little-endian), the JSON, and the segments.
 * The JSON has the peaks of everything so far, and in `preview` the index of this part.
 */

/** How many parts a request has at most: enough for some hours. What follows them is not live. */
export const LIVE_PARTS_MAX = 32

/** Size limit of one part in bytes; with the number of parts it bounds what a request stores. */
export const LIVE_PART_BYTES_MAX = 2 ** 26

/** Parts grow with what is before them, so that there are few, and the first ones come soon. */
const GROWTH = 1.25

/**
 * Returns how many segments of each sound there are up to the end of a part.
 * @param before the same for the part before it; 0 for the first
 */
export const endOfPart = (before: number): number => Math.max(1, Math.ceil(before * GROWTH))
