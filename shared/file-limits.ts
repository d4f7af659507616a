/** Of an uploaded file, and of what an address gives. */
export const FILE_BYTES_MAX = 524_288_000
