// Compiled in, for commands that are a single file.
import manifest from '../package.json' with { type: 'json' }

export const { version } = manifest
