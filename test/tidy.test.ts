/**
 * The rules of the house that a machine can hold: who may import whom, where packages live, how
 * long things get.
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const MAY_IMPORT: Record<string, readonly string[]> = {
  shared: [],
  models: [],
  gateway: ['shared'],
  engine: ['shared', 'models'],
  clients: [],
}
const FREE = ['scripts', 'bench', 'test', 'examples']

/** One home per package. */
const HOMES: [packages: RegExp, homes: readonly string[]][] = [
  [/^@?fastify/, ['gateway/']],
  [/^(kysely|better-sqlite3)/, ['gateway/store/']],
  [/^prom-client/, ['gateway/operations/metrics.ts']],
  [/^@nats-io\//, ['shared/broker']],
  [/^(@grpc\/|grpc-health-check)/, ['shared/proto.ts', 'shared/engine-control.ts',
    'engine/control-server.ts', 'gateway/grpc/']],
  [/^node-av/, ['engine/media/']],
  [/^protobufjs/, ['models/graph/']],
  [/^@tensorflow\//, ['models/tensor.ts', 'models/bfloat16.ts']],
]

/** Written by `npm run client-types`. */
const GENERATED = 'clients/typescript/api.ts'

const LINES_MAX = 400
const COLUMNS_MAX = 100
const COLUMNS_MAX_OF_TESTS = 120
const FUNCTION_LINES_MAX = 70

interface Source {
  path: string
  text: string
  imports: string[]
}

const sources: Source[] = [...Object.keys(MAY_IMPORT), ...FREE].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .map((file) => join(folder, String(file)))
    .filter((path) => /\.(ts|mjs)$/.test(path) && !/node_modules|\/dist\//.test(path))
    .filter((path) => path !== GENERATED)
    .map(readSource))

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const imports = [...text.matchAll(/^(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]/gms)]
    .concat([...text.matchAll(/^import\s+['"]([^'"]+)['"]/gm)])
    .concat([...text.matchAll(/\b(?:import|require)\(['"]([^'"]+)['"]\)/g)])
    .map((match) => match[1] ?? '')
  return { path, text, imports }
}

const ruled = sources.filter(({ path }) => path.split('/')[0]! in MAY_IMPORT)

/** The path from the root that a relative import means, or null for a package. */
const targetOf = (source: Source, name: string) => name.startsWith('.')
  ? relative(ROOT, resolve(ROOT, dirname(source.path), name))
  : null

test('the sources are found', () => assert.ok(ruled.length > 40, `${ruled.length} files`))

test('folders import only those they may', () => {
  for (const source of ruled) {
    const folder = source.path.split('/')[0] ?? ''
    for (const name of source.imports) {
      const target = targetOf(source, name)?.split('/')[0]
      if (!target || target === folder) continue
      assert.ok(MAY_IMPORT[folder]?.includes(target), `${source.path} may not import ${name}`)
    }
  }
})

test('each package has one home', () => {
  for (const source of ruled) {
    for (const name of source.imports) {
      const home = HOMES.find(([packages]) => packages.test(name))?.[1]
      if (!home) continue
      assert.ok(home.some((place) => source.path.startsWith(place)),
        `${source.path} imports ${name}, whose home is ${home.join(' and ')}`)
    }
  }
})

test('clients need nothing but Node', () => {
  for (const { path, imports } of ruled) {
    if (!path.startsWith('clients/')) continue
    for (const name of imports) assert.match(name, /^(node:|\.\/)/, path)
  }
})

test('no import goes in a circle', () => {
  const byPath = new Map(ruled.map((source) => [source.path, source]))
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `a circle: ${[...trail, path].join(' → ')}`)
    const source = byPath.get(path)
    if (!source || done.has(path)) return
    for (const name of valueImports(source)) {
      const target = targetOf(source, name)
      if (target) visit(target, [...trail, path])
    }
    done.add(path)
  }
  for (const { path } of ruled) visit(path, [])
})

/** Types vanish when the program runs, so that a circle of types alone is none. */
function valueImports({ text }: Source): string[] {
  return [...text.matchAll(/^(?:import|export)\s(?!type\s)[^'"]*?from\s+['"]([^'"]+)['"]/gms)]
    .map((match) => match[1] ?? '')
}

test('only main.ts and scripts read the environment', () => {
  for (const { path, text } of ruled) {
    if (path.endsWith('/main.ts')) continue
    assert.ok(!/\bprocess\.env\b/.test(text) || path === 'models/tensor.ts',
      `${path} reads process.env`)
  }
})

test('a request comes to its end only with what belongs to the end', () => {
  for (const { path, text } of ruled) {
    if (path === 'gateway/requests/finish-request.ts') continue
    assert.ok(!/moveRequest\([^)]*\bto: '(COMPLETED|FAILED)'/.test(text),
      `${path} ends a request without finish-request.ts`)
  }
})

test('files, lines and functions stay readable', () => {
  const tooLong = sources.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    const isTest = path.startsWith('test/')
    const linesMax = isTest ? Infinity : LINES_MAX
    const columnsMax = isTest ? COLUMNS_MAX_OF_TESTS : COLUMNS_MAX
    const wide = lines.flatMap((line, i) =>
      [...line].length > columnsMax ? [`${path}:${i + 1} has ${[...line].length} columns`] : [])
    const functions = isTest ? [] : functionLengths(text)
    return [
      ...(lines.length > linesMax ? [`${path} has ${lines.length} lines`] : []),
      ...wide,
      ...functions.filter(({ length }) => length > FUNCTION_LINES_MAX)
        .map(({ name, length }) => `${path}: ${name} has ${length} lines`),
    ]
  })
  assert.deepEqual(tooLong, [])
})

/** Top-level functions and methods, from their first line to the brace at the same indent. */
function functionLengths(text: string): { name: string; length: number }[] {
  const lines = text.split('\n')
  const starts = /^( {0,2})(?:export )?(?:static )?(?:async )?(?:function\*? )?(#?\w+)\(.*\{$/
  return lines.flatMap((line, i) => {
    const match = starts.exec(line)
    if (!match || /^\s*(if|for|while|switch)\b/.test(line)) return []
    const end = lines.findIndex((other, j) => j > i && other === `${match[1]}}`)
    return end < 0 ? [] : [{ name: match[2] ?? '', length: end - i + 1 }]
  })
}

test('nothing is left half done or switched off', () => {
  for (const { path, text } of sources) {
    if (path === 'test/tidy.test.ts') continue
    assert.ok(!/\b(TODO|FIXME|XXX|HACK)\b/.test(text), `${path} has a TODO`)
    assert.ok(!/@ts-(ignore|nocheck)/.test(text), `${path} switches the types off`)
    assert.ok(!/\btest\.(only|skip|todo)\(/.test(text), `${path} skips or singles out a test`)
  }
})
