/**
 * `winnow docs`: builds the documentation site in .runtime/docs. All links are relative, so a
 * gateway can serve it at /docs and any other web server anywhere.
 */

import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import MiniSearch from 'minisearch'
import { SEARCH_OPTIONS } from '../../web/docs/search-options.ts'
import { collectFiles, targetOf, addressOf, relativeLink, type Document } from './docs/documents.ts'
import { renderDocument, type RenderedPage } from './docs/markdown.ts'
import { readNavigation } from './docs/navigation.ts'
import { pageHtml } from './docs/page.ts'
import { packagesInRedoc, redocScript } from './docs/redoc.ts'
import { licenceTexts, packagesOf } from '../setup/licence-texts.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const INDEX = 'docs/README.md'
/** The page below whose text Redoc draws the API description. */
const REFERENCE = 'docs/reference/api.md'
const API_DESCRIPTION = 'test/contract/openapi.golden.json'
const COMPRESSED = /\.(js|css|json|txt|svg)$/
/** The highest quality takes ten times as long and saves 2 %. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

const out = join(ROOT, '.runtime/docs')
const fresh = `${out}.new`
rmSync(fresh, { recursive: true, force: true })
const { documents, copies } = collectFiles(ROOT)
const navigation = readNavigation(
  ROOT,
  documents.find(({ path }) => path === INDEX)!,
)
const rendered = documents.map((document) => ({ document, ...render(document) }))
for (const { document, html, title } of rendered) {
  const isReference = document.path === REFERENCE
  const content = isReference ? `${html}<div id="reference"></div>` : html
  const scripts = isReference ? ['redoc.js', 'reference.js'] : []
  write(
    document.address,
    pageHtml(
      { address: document.address, title, content, scripts, isWide: isReference },
      navigation,
    ),
  )
}
write(`${dirname(addressOf(REFERENCE))}/openapi.json`, readFileSync(join(ROOT, API_DESCRIPTION)))
write('redoc.js', redocScript(ROOT))
writeScripts()
for (const [path, address] of copies) {
  if (COMPRESSED.test(address)) write(address, readFileSync(join(ROOT, path)))
  else cpSync(join(ROOT, path), join(fresh, address), { recursive: true })
}
write('search.json', JSON.stringify(searchIndex()))
rmSync(out, { recursive: true, force: true })
renameSync(fresh, out)
console.log(`${documents.length} pages in ${out}`)

function render({ path, address, text }: Document): RenderedPage {
  return renderDocument(text, (link) => {
    const [file = '', anchor] = link.split('#')
    const target = relativeLink(address, addressOf(targetOf(ROOT, path, file)))
    return anchor === undefined ? target : `${target}#${anchor}`
  })
}

function writeScripts(): void {
  const { outputFiles, metafile } = buildSync({
    metafile: true,
    absWorkingDir: ROOT,
    entryPoints: ['web/docs/site.ts', 'web/docs/reference.ts', 'web/docs/site.css'],
    outdir: fresh,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none', // written to licences-of-the-site.txt
    tsconfig: 'web/tsconfig.json',
  })
  for (const { path, contents } of outputFiles) write(path.slice(fresh.length + 1), contents)
  const names = [...packagesOf(Object.keys(metafile.inputs)), ...packagesInRedoc(ROOT)]
  const redoc = readFileSync(
    join(ROOT, 'node_modules/redoc/bundles/redoc.standalone.js.LICENSE.txt'),
  )
  write('licences-of-the-site.txt', `${licenceTexts(names)}\n\n${redoc}`)
}

function searchIndex(): MiniSearch {
  const index = new MiniSearch(SEARCH_OPTIONS)
  for (const { document, title: page, sections } of rendered) {
    for (const { id, title, text } of sections) {
      const address = id === '' ? document.address : `${document.address}#${id}`
      index.add({ id: address, title: title || page, page, text })
    }
  }
  return index
}

function write(address: string, contents: string | Uint8Array): void {
  const path = join(fresh, address)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, contents)
  // a gateway inserts its own address into these, so it cannot serve a compressed copy
  if (address.endsWith('.html')) return
  writeFileSync(`${path}.br`, brotliCompressSync(contents, BROTLI))
  writeFileSync(`${path}.gz`, gzipSync(contents))
}
