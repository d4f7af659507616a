/**
 * Marks sound that was separated: a tag of the file (FFmpeg's `encoded_by`), by which the command
 * line knows its own outputs, whatever they are called.
 */
export const OUTPUT_MARK = 'separated by Winnow'
