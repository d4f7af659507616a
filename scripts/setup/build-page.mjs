// Builds the page in .runtime/web: the main script, a script that draws, encoders that are loaded
// on demand, and the examples. Each has a hash in its name, and all but the examples have
// compressed copies.

import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { hashOf, ROOT, RUNTIME } from './files.mjs'
import { licenceTexts, packagesOf } from './licence-texts.mjs'

/** The examples that the page offers, in this order. */
const EXAMPLES = JSON.parse(readFileSync(join(ROOT, 'examples/examples.json'), 'utf8'))

const out = join(RUNTIME, 'web')
const fresh = `${out}.new`
rmSync(fresh, { recursive: true, force: true })
mkdirSync(join(fresh, 'assets'), { recursive: true })

const examples = EXAMPLES.map(({ name, prompts }) => {
  const source = join(ROOT, 'examples', `${name}.wav`)
  const hashed = `${name}-${hashOf(readFileSync(source)).slice(0, 8)}.wav`
  cpSync(source, join(fresh, 'assets', hashed))
  return {
    name,
    address: `playground/assets/${hashed}`,
    prompts: prompts.map(({ prompt }) => prompt),
  }
})
const shared = {
  metafile: true,
  absWorkingDir: ROOT,
  outdir: join(fresh, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none', // written to a file of their own
  tsconfig: 'web/tsconfig.json',
}
// Built separately: otherwise the page would have to load the code that both share before it
// starts.
const encoders = await build({ ...shared, entryPoints: ['web/audio/convert.ts'], splitting: true })
const drawing = await build({ ...shared, entryPoints: ['web/parts/wavesurfer.ts'] })
const later = [encoders, drawing]
const convert = `./${nameOf(encoders.outputFiles, 'convert')}`
const draw = `./${nameOf(drawing.outputFiles, 'wavesurfer')}`
const { outputFiles, metafile } = await build({
  ...shared,
  entryPoints: { page: 'web/main.tsx', style: 'web/style/style.css' },
  define: {
    EXAMPLES: JSON.stringify(examples),
    CONVERT: JSON.stringify(convert),
    DRAWING: JSON.stringify(draw),
  },
  external: [convert, draw], // in the same folder as the script
})
// The style sheet is inlined, so that the first paint waits for nothing else.
const isScript = ({ path }) => path.endsWith('.js')
const built = [...outputFiles, ...later.flatMap(({ outputFiles }) => outputFiles)].filter(isScript)
for (const { path, contents } of built) {
  writeFileSync(path, contents)
  compress(path, contents)
}
let html = readFileSync(join(ROOT, 'web/index.html'), 'utf8')
  .replace('{{script}}', `playground/assets/${nameOf(outputFiles, 'page')}`)
  .replace('{{style}}', () => outputFiles.find(({ path }) => path.endsWith('.css')).text.trim())
const metafiles = [metafile, ...later.map(({ metafile }) => metafile)]
const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs))
const licences = licenceTexts(packagesOf(inputs))
const licencesName = `licences-${hashOf(licences).slice(0, 8)}.txt`
writeFileSync(join(fresh, 'assets', licencesName), licences)
html = html.replace('{{licences}}', licencesName)
const documentOf = (audience) => html.replace('<html', `<html data-audience="${audience}"`)
// The other two are for gateways whose admins have an address of their own.
for (const [name, text] of [
  ['index.html', html],
  ['clients.html', documentOf('clients')],
  ['admins.html', documentOf('admins')],
]) {
  writeFileSync(join(fresh, name), text)
  compress(join(fresh, name), text)
}
rmSync(out, { recursive: true, force: true })
renameSync(fresh, out)

/** Returns the name of an output file, which contains its hash. */
function nameOf(files, name) {
  return files.map(({ path }) => basename(path)).find((file) => file.startsWith(`${name}-`))
}

function compress(path, contents) {
  writeFileSync(`${path}.br`, brotliCompressSync(contents))
  writeFileSync(`${path}.gz`, gzipSync(contents))
}
