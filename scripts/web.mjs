// Makes the playground in .runtime/web: one script, one style sheet and the examples, each under a
// name with its hash, with compressed copies beside what a page loads first.

import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { hashOf, ROOT, RUNTIME } from './setup/files.mjs'
import { licenceTexts, packagesOf } from './setup/licence-texts.mjs'

/** Shown on the page, in their order. */
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
    address: `/playground/assets/${hashed}`,
    prompts: prompts.map(({ prompt }) => prompt),
  }
})
const { outputFiles, metafile } = await build({
  metafile: true,
  absWorkingDir: ROOT,
  entryPoints: { page: 'web/main.tsx', style: 'web/style.css' },
  outdir: join(fresh, 'assets'),
  entryNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none', // the licences lie beside
  tsconfig: 'web/tsconfig.json',
  define: { EXAMPLES: JSON.stringify(examples) },
})
let html = outputFiles.reduce(
  (page, { path, contents }) => {
    writeFileSync(path, contents)
    compress(path, contents)
    const placeholder = /page-\w+\.js$/.test(path) ? '{{script}}' : '{{style}}'
    return page.replace(placeholder, basename(path))
  },
  readFileSync(join(ROOT, 'web/index.html'), 'utf8'),
)
const licences = licenceTexts(packagesOf(Object.keys(metafile.inputs)))
const licencesName = `licences-${hashOf(licences).slice(0, 8)}.txt`
writeFileSync(join(fresh, 'assets', licencesName), licences)
html = html.replace('{{licences}}', licencesName)
writeFileSync(join(fresh, 'index.html'), html)
compress(join(fresh, 'index.html'), html)
rmSync(out, { recursive: true, force: true })
renameSync(fresh, out)

function compress(path, contents) {
  writeFileSync(`${path}.br`, brotliCompressSync(contents))
  writeFileSync(`${path}.gz`, gzipSync(contents))
}
