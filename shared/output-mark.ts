/**
 * Marks separated sound with a tag in the file (FFmpeg's `encoded_by`), by which the command line
 * recognises its own outputs, whatever their names are.
 */
export const OUTPUT_MARK = 'separated by Winnow'
