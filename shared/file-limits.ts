/** Most bytes of an uploaded file, and of media from an address. */
export const FILE_BYTES_MAX = 524_288_000
