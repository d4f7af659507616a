// Runs a program of ours, compiled where that can be: node scripts/run.mjs gateway/main.ts …

import { realpathSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './setup/files.mjs'
import { compiledProgram } from './setup/programs.mjs'

const [program = '', ...words] = process.argv.slice(2)
const source = realpathSync(resolve(program))
process.argv.splice(1, Infinity, source, ...words)
const compiled = await compiledProgram(relative(ROOT, source))
if (compiled === null) (await import('tsx/esm/api')).register()
else process.setSourceMapsEnabled(true)
await import(pathToFileURL(compiled ?? source).href)
