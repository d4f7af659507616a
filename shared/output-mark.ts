/** Marks separated files (FFmpeg's `encoded_by`), by which the command recognises its outputs. */
export const OUTPUT_MARK = 'separated by Winnow'
