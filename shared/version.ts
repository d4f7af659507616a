// Compiled in, so that a command that is a single file has it wherever it lies.
import manifest from '../package.json' with { type: 'json' }

export const { version } = manifest
