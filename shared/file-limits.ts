/** Size limit in bytes for uploaded files and for media from an address. */
export const FILE_BYTES_MAX = 524_288_000
